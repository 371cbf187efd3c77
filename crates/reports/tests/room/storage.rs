//! The real storage, with calls that fail or wait when a test says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_outbound::{BlobPlace, Blobs};
use mainstay_reports::{ObjectEntry, ObjectError, ObjectErrorKind, ObjectUpload, Objects};
use tokio::sync::Semaphore;

/// A call of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Upload,
    Write,
    Finish,
    /// An upload that is whole.
    Finished,
    Put,
    /// A put that is done.
    Stored,
    Get,
    Delete,
    List,
}

/// The storage in a folder of its own.
pub(crate) struct Storage {
    real: Blobs,
    faults: Arc<Faults>,
    _folder: tempfile::TempDir,
}

/// What goes wrong.
#[derive(Default)]
pub(crate) struct Faults {
    /// Each of these fails until it is taken out.
    failing: Mutex<HashMap<Call, ObjectErrorKind>>,
    /// So many calls are left, of whatever kind, until one of them fails.
    once: Mutex<Option<(usize, ObjectErrorKind)>>,
    /// How often each was called.
    calls: Mutex<HashMap<Call, usize>>,
    /// A put waits for a permit while this is set.
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl Faults {
    pub(crate) fn fail(&self, call: Call, kind: ObjectErrorKind) {
        self.failing.lock().unwrap().insert(call, kind);
    }

    /// After so many calls of whatever kind, one fails.
    pub(crate) fn fail_once(&self, passing: usize, kind: ObjectErrorKind) {
        *self.once.lock().unwrap() = Some((passing, kind));
    }

    /// Whether that has happened.
    pub(crate) fn has_failed(&self) -> bool {
        self.once.lock().unwrap().is_none()
    }

    pub(crate) fn mend(&self) {
        self.failing.lock().unwrap().clear();
        *self.once.lock().unwrap() = None;
    }

    pub(crate) fn count(&self, call: Call) -> usize {
        self.calls.lock().unwrap().get(&call).copied().unwrap_or(0)
    }

    pub(crate) fn hold_puts(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(Arc::clone(&gate));
        gate
    }

    fn note(&self, call: Call) -> Result<(), ObjectError> {
        *self.calls.lock().unwrap().entry(call).or_default() += 1;
        let once = self.fails_now();
        match once.or_else(|| self.failing.lock().unwrap().get(&call).copied()) {
            Some(kind) => {
                let message = format!("{call:?} fails");
                Err(ObjectError { kind, message, retry_after: None })
            }
            None => Ok(()),
        }
    }

    fn fails_now(&self) -> Option<ObjectErrorKind> {
        let mut once = self.once.lock().unwrap();
        let (passing, kind) = (*once)?;
        *once = passing.checked_sub(1).map(|left| (left, kind));
        once.is_none().then_some(kind)
    }
}

impl Storage {
    pub(crate) fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = Blobs::open(&BlobPlace::Folder(folder.path().join("blobs"))).unwrap();
        Self { real, faults: Arc::default(), _folder: folder }
    }

    pub(crate) fn faults(&self) -> &Arc<Faults> {
        &self.faults
    }

    /// Every key that is there, whatever fails.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let listed = Objects::list(&self.real, "users/", None, 1_000).await.unwrap();
        listed.into_iter().map(|entry| entry.key).collect()
    }

    pub(crate) async fn text(&self, key: &str) -> String {
        let bytes = Objects::get(&self.real, key, 20 * 1024 * 1024).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Loses or garbles an object behind everybody's back.
    pub(crate) async fn replace(&self, key: &str, bytes: &'static [u8]) {
        Objects::put(&self.real, key, Bytes::from_static(bytes)).await.unwrap();
    }

    pub(crate) async fn lose(&self, key: &str) {
        Objects::delete(&self.real, key).await.unwrap();
    }
}

impl Objects for Storage {
    fn upload<'a>(
        &'a self,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Box<dyn ObjectUpload>, ObjectError>> {
        async move {
            self.faults.note(Call::Upload)?;
            let real = Some(Objects::upload(&self.real, key).await?);
            Ok(Box::new(Coming { real, faults: Arc::clone(&self.faults) }) as Box<dyn ObjectUpload>)
        }
        .boxed()
    }

    fn put<'a>(&'a self, key: &'a str, bytes: Bytes) -> BoxFuture<'a, Result<(), ObjectError>> {
        async move {
            self.faults.note(Call::Put)?;
            Objects::put(&self.real, key, bytes).await?;
            self.faults.note(Call::Stored)?;
            let gate = self.faults.gate.lock().unwrap().clone();
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            Ok(())
        }
        .boxed()
    }

    fn get<'a>(&'a self, key: &'a str, most: usize) -> BoxFuture<'a, Result<Bytes, ObjectError>> {
        async move {
            self.faults.note(Call::Get)?;
            Objects::get(&self.real, key, most).await
        }
        .boxed()
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), ObjectError>> {
        async move {
            self.faults.note(Call::Delete)?;
            Objects::delete(&self.real, key).await
        }
        .boxed()
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ObjectEntry>, ObjectError>> {
        async move {
            self.faults.note(Call::List)?;
            Objects::list(&self.real, prefix, after, limit).await
        }
        .boxed()
    }
}

struct Coming {
    real: Option<Box<dyn ObjectUpload>>,
    faults: Arc<Faults>,
}

impl ObjectUpload for Coming {
    fn write(&mut self, bytes: Bytes) -> BoxFuture<'_, Result<(), ObjectError>> {
        async move {
            self.faults.note(Call::Write)?;
            self.real.as_mut().unwrap().write(bytes).await
        }
        .boxed()
    }

    fn finish(mut self: Box<Self>) -> BoxFuture<'static, Result<u64, ObjectError>> {
        async move {
            self.faults.note(Call::Finish)?;
            let size = self.real.take().unwrap().finish().await?;
            self.faults.note(Call::Finished)?;
            Ok(size)
        }
        .boxed()
    }

    fn abort(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        async move { self.real.take().unwrap().abort().await }.boxed()
    }
}
