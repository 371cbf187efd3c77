//! Blobs in a folder: `objects` holds them by their keys, `incoming` what is not whole yet. A blob
//! appears by a rename, after all of it is on the disk.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use mainstay_base::{Rng as _, SystemRng, Timestamp};
use tokio::task::spawn_blocking;

use super::error::{BlobError, BlobsError};
use super::key::BlobKey;
use super::store::BlobEntry;
use super::walk;

/// What is not whole after this time, nobody finishes any more: its process was killed.
const ABANDONED_AFTER: Duration = Duration::from_hours(24);

/// How often a blob is moved to its place, when each time its folder was cleared away by a delete.
const MOVES: usize = 32;

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Folder(Arc<Paths>);

#[derive(Debug)]
struct Paths {
    objects: PathBuf,
    incoming: PathBuf,
}

/// A blob that is not whole yet. Dropped, it is gone.
#[derive(Debug)]
pub(crate) struct Incoming {
    file: File,
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, and clears away what was abandoned in it.
    pub(crate) fn open(path: &Path, now: Timestamp) -> Result<Self, BlobsError> {
        let paths = Paths { objects: path.join("objects"), incoming: path.join("incoming") };
        let made = make(&paths.objects).and_then(|()| make(&paths.incoming));
        made.and_then(|()| clear(&paths.incoming, now).map(drop))
            .map_err(|source| BlobsError::Folder { path: path.to_owned(), source })?;
        Ok(Self(Arc::new(paths)))
    }

    pub(crate) async fn put(&self, key: &BlobKey, body: Bytes) -> Result<(), BlobError> {
        let (folder, key) = (self.clone(), key.clone());
        blocking(move || {
            let mut incoming = folder.incoming()?;
            incoming.file.write_all(&body)?;
            folder.finish(&incoming, &key)
        })
        .await
    }

    pub(crate) async fn begin(&self) -> Result<Incoming, BlobError> {
        let folder = self.clone();
        blocking(move || folder.incoming()).await
    }

    pub(crate) async fn write(
        &self,
        mut incoming: Incoming,
        part: Bytes,
    ) -> Result<Incoming, BlobError> {
        blocking(move || incoming.file.write_all(&part).map(|()| incoming)).await
    }

    pub(crate) async fn end(&self, incoming: Incoming, key: &BlobKey) -> Result<(), BlobError> {
        let (folder, key) = (self.clone(), key.clone());
        blocking(move || folder.finish(&incoming, &key)).await
    }

    pub(crate) async fn get(&self, key: &BlobKey, most: usize) -> Result<Bytes, BlobError> {
        let path = self.path(key);
        let read = blocking(move || read(&path, most)).await?;
        read.ok_or_else(|| BlobError::too_large(most))
    }

    pub(crate) async fn delete(&self, key: &BlobKey) -> Result<(), BlobError> {
        let (folder, path) = (self.clone(), self.path(key));
        blocking(move || match fs::remove_file(&path) {
            Ok(()) => {
                folder.prune(&path);
                Ok(())
            }
            // Below a blob, or a folder: nothing that was stored under this key.
            Err(error) if is_absent(&error) => Ok(()),
            Err(_) if path.is_dir() => Ok(()),
            Err(error) => Err(error),
        })
        .await
    }

    pub(crate) async fn list(
        &self,
        prefix: Option<&BlobKey>,
        after: Option<&BlobKey>,
        limit: usize,
    ) -> Result<Vec<BlobEntry>, BlobError> {
        let (folder, prefix, after) = (self.clone(), prefix.cloned(), after.cloned());
        blocking(move || walk::list(&folder.0.objects, prefix.as_ref(), after.as_ref(), limit))
            .await
    }

    /// Removes what nobody finishes any more; tells how much.
    pub(crate) async fn clear(&self, now: Timestamp) -> Result<u64, BlobError> {
        let folder = self.clone();
        blocking(move || clear(&folder.0.incoming, now)).await
    }

    fn path(&self, key: &BlobKey) -> PathBuf {
        let mut path = self.0.objects.clone();
        path.extend(key.segments());
        path
    }

    fn incoming(&self) -> io::Result<Incoming> {
        let mut name = [0_u8; 16];
        SystemRng.fill(&mut name);
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.0.incoming.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        private(&mut options);
        let file = options.open(&path)?;
        Ok(Incoming { file, path })
    }

    /// On the disk first, then in its place, then that on the disk.
    fn finish(&self, incoming: &Incoming, key: &BlobKey) -> io::Result<()> {
        incoming.file.sync_all()?;
        let path = self.path(key);
        let parent = path.parent().unwrap_or(&self.0.objects);
        let mut moved = Ok(());
        for _ in 0..MOVES {
            moved = make(parent).and_then(|()| fs::rename(&incoming.path, &path));
            match &moved {
                Err(error) if is_overtaken(error) => {}
                _ => break,
            }
        }
        moved?;
        // The folders above may be new too.
        for folder in parent.ancestors().take_while(|above| above.starts_with(&self.0.objects)) {
            sync_folder(folder)?;
        }
        Ok(())
    }

    /// Takes away the folders that a blob leaves empty.
    fn prune(&self, path: &Path) {
        let above = path.ancestors().skip(1).take_while(|above| *above != self.0.objects);
        for folder in above {
            if fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // After the rename there is nothing of this name.
        let _ = fs::remove_file(&self.path);
    }
}

pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A folder was cleared away meanwhile: before the blob came into it, or between the making, which found that it
/// stands already, and the look at what stands there.
fn is_overtaken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}

/// When a file was changed last.
pub(crate) fn modified(metadata: &fs::Metadata) -> io::Result<Timestamp> {
    let since = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok(Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

/// The bytes of a file, or nothing where there are more than `most`.
fn read(path: &Path, most: usize) -> io::Result<Option<Bytes>> {
    let file = File::open(path)
        .map_err(|error| if is_absent(&error) { io::ErrorKind::NotFound.into() } else { error })?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let Some(size) = usize::try_from(metadata.len()).ok().filter(|size| *size <= most) else {
        return Ok(None);
    };
    let mut bytes = Vec::with_capacity(size);
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then(|| bytes.into()))
}

/// Removes what was abandoned by a process that was killed; tells how much.
fn clear(incoming: &Path, now: Timestamp) -> io::Result<u64> {
    let mut removed = 0_u64;
    for entry in fs::read_dir(incoming)? {
        let entry = entry?;
        // Another process may finish or remove it meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        let age = now.since(modified(&metadata)?);
        if metadata.is_file() && age > ABANDONED_AFTER && fs::remove_file(entry.path()).is_ok() {
            tracing::info!(event = "abandoned_upload_removed", "an abandoned upload is removed");
            removed = removed.saturating_add(1);
        }
    }
    Ok(removed)
}

/// Makes a folder and those above it, for nobody else to read.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// A folder is opened for this on Unix only.
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        Err(error) if cfg!(unix) && !is_absent(&error) => Err(error),
        _ => Ok(()),
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, BlobError> {
    match spawn_blocking(work).await {
        Ok(done) => done.map_err(BlobError::from),
        Err(_) => Err(BlobError::transient("the storage folder was not reached: try again")),
    }
}
