//! An upload: row `processing` → object → one transaction with the job and the file `queued`.
//!
//! It runs on a task of its own that is handed the bytes. Whoever sends them may hang up at any moment, also
//! when all of them are there and it waits for the storage: the task then undoes what it has done, so that a
//! refused or abandoned upload leaves nothing.

use bytes::Bytes;
use mainstay_base::Id;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::announce::{self, News};
use crate::error::ReportsError;
use crate::keys;
use crate::model::{FileError, FileStatus, MAX_FILE_BYTES, Window};
use crate::name::FileName;
use crate::objects::{ObjectError, ObjectUpload};
use crate::record::files::{self, NewFile, StoredFile};
use crate::reports::{Beside, BesideError, Reports};
use crate::turns::Turn;

/// Parts that may wait for the storage: whoever sends faster waits.
const WAITING_PARTS: usize = 2;

/// A file that is on its way. Dropped, it is undone.
#[derive(Debug)]
pub struct Upload {
    id: Id,
    parts: mpsc::Sender<Part>,
    /// None once it has told how it ended.
    storing: Option<JoinHandle<Result<(), ReportsError>>>,
    size: u64,
}

enum Part {
    Bytes(Bytes),
    End(End),
}

/// What comes with the end of a file.
struct End {
    window: Option<Window>,
    beside: Beside,
}

impl Reports {
    /// Begins an upload of `user`. Call it when the first bytes are there.
    ///
    /// # Errors
    /// [`ReportsError::NotConfigured`], [`ReportsError::TooManyUploads`], or [`ReportsError::Busy`].
    pub fn upload(&self, user: Id, name: FileName) -> Result<Upload, ReportsError> {
        if !self.is_configured() {
            return Err(ReportsError::NotConfigured);
        }
        let turn = self.shared.turns.take(user)?;
        let id = self.shared.ids.next();
        let (parts, coming) = mpsc::channel(WAITING_PARTS);
        let storing = Storing {
            reports: self.clone(),
            user,
            id,
            key: keys::original(user, id, name.extension()),
            name,
            _turn: turn,
        };
        let storing = self.spawn(storing.run(coming));
        Ok(Upload { id, parts, storing: Some(storing), size: 0 })
    }
}

impl Upload {
    /// The id of the file.
    #[must_use]
    pub const fn id(&self) -> Id {
        self.id
    }

    /// Hands the next bytes on.
    ///
    /// # Errors
    /// [`ReportsError::TooLarge`], or why it could not be stored.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), ReportsError> {
        self.size = self.size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if self.size > MAX_FILE_BYTES {
            return Err(ReportsError::TooLarge);
        }
        match self.parts.send(Part::Bytes(bytes)).await {
            Ok(()) => Ok(()),
            Err(_) => self.ended().await,
        }
    }

    /// Queues the report of the whole file, with what goes `beside` it.
    ///
    /// # Errors
    /// [`ReportsError::Empty`], or why it could not be stored or queued.
    pub async fn finish(
        mut self,
        window: Option<Window>,
        beside: Beside,
    ) -> Result<Id, ReportsError> {
        if self.size == 0 {
            return Err(ReportsError::Empty);
        }
        // Whether it is taken or not, the task tells how it ended.
        let _ = self.parts.send(Part::End(End { window, beside })).await;
        self.ended().await.map(|()| self.id)
    }

    /// Undoes it, and comes back when nothing is left of it: whoever is told of a refusal may look, or
    /// send the next one at once.
    pub async fn undo(mut self) {
        let (closed, _) = mpsc::channel(1);
        self.parts = closed;
        // How it would have ended does not matter any more.
        let _ = self.ended().await;
    }

    async fn ended(&mut self) -> Result<(), ReportsError> {
        let Some(storing) = self.storing.take() else { return Err(ReportsError::Interrupted) };
        storing.await.unwrap_or(Err(ReportsError::Interrupted))
    }
}

/// The other end of an upload.
struct Storing {
    reports: Reports,
    user: Id,
    id: Id,
    name: FileName,
    key: String,
    _turn: Turn,
}

impl Storing {
    async fn run(self, mut coming: mpsc::Receiver<Part>) -> Result<(), ReportsError> {
        self.write_down().await?;
        let objects = &self.reports.shared.objects;
        let mut object = match objects.upload(&self.key).await {
            Ok(object) => object,
            Err(error) => return Err(self.not_stored(error).await),
        };
        let mut size = 0_u64;
        while let Some(part) = coming.recv().await {
            match part {
                Part::Bytes(bytes) => {
                    size = size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
                    if let Err(error) = object.write(bytes).await {
                        object.abort().await;
                        return Err(self.not_stored(error).await);
                    }
                }
                Part::End(end) => return self.end(object, size, end, &coming).await,
            }
        }
        object.abort().await;
        self.forget().await;
        Ok(())
    }

    async fn write_down(&self) -> Result<(), ReportsError> {
        let (user, id) = (self.user, self.id);
        let (name, extension) = (self.name.as_str(), self.name.extension().name());
        let new = NewFile { user, id, name, extension, key: &self.key };
        self.reports
            .shared
            .events
            .write(async |tx, out| {
                files::insert(tx, &new).await?;
                let news = News::of_upload((user, id), FileStatus::Processing, None);
                Ok(announce::state_changed(out, &news)?)
            })
            .await
    }

    async fn end(
        &self,
        object: Box<dyn ObjectUpload>,
        size: u64,
        end: End,
        sender: &mpsc::Receiver<Part>,
    ) -> Result<(), ReportsError> {
        if let Err(error) = object.finish().await {
            // What the storage was asked for may have been done all the same.
            let may_be_there = !error.was_not_asked();
            let refusal = self.not_stored(error).await;
            if may_be_there {
                self.delete_object().await;
            }
            return Err(refusal);
        }
        match self.enqueue(size, end, sender).await {
            Ok(()) => Ok(()),
            Err(error) => self.not_queued(error).await,
        }
    }

    /// The job and the file that waits for it, in one transaction: unless whoever sent it has gone meanwhile, and
    /// does not want it any more.
    async fn enqueue(
        &self,
        size: u64,
        end: End,
        sender: &mpsc::Receiver<Part>,
    ) -> Result<(), ReportsError> {
        let (user, id, shared) = (self.user, self.id, &self.reports.shared);
        let End { window, beside } = end;
        shared
            .events
            .write(async |tx, out| {
                let job = shared.jobs.enqueue(tx, Reports::job(user, id)?).await?.id;
                let size = i64::try_from(size).unwrap_or(i64::MAX);
                if !files::queue(tx, &StoredFile { user, id, job, size, window }).await? {
                    return Err(ReportsError::Interrupted);
                }
                beside(tx).await?;
                let news = News::of_upload((user, id), FileStatus::Queued, None);
                announce::state_changed(out, &news)?;
                if sender.is_closed() {
                    return Err(ReportsError::Interrupted);
                }
                Ok(())
            })
            .await
    }

    async fn not_stored(&self, error: ObjectError) -> ReportsError {
        let told = "the storage did not take the file; upload it again";
        tracing::error!(event = "s3_put_failed", file_id = %self.id, %error,
            "an uploaded file could not be stored");
        self.fail("s3_put_failed", told).await;
        ReportsError::Storage(error)
    }

    /// The object is there and its job is not. Unless nobody knows: then what was written decides.
    async fn not_queued(&self, error: ReportsError) -> Result<(), ReportsError> {
        if matches!(
            error,
            ReportsError::Interrupted | ReportsError::Beside(BesideError::Refused(_))
        ) {
            self.forget().await;
            self.delete_object().await;
            return Err(error);
        }
        let told = "the report could not be queued; upload the file again";
        let is_queued = match self.fail("enqueue_failed", told).await {
            Some(true) => Some(false),
            Some(false) => self.is_queued().await,
            None => None,
        };
        if is_queued == Some(true) {
            return Ok(());
        }
        tracing::error!(event = "orphan_file_without_job", file_id = %self.id, %error,
            "a file was stored and its report could not be queued");
        // Without an answer of the database the file may be queued all the same: its object stays.
        if is_queued.is_some() {
            self.delete_object().await;
        }
        Err(ReportsError::Enqueue(Box::new(error)))
    }

    /// Whether the file has its job after all, if the database answers.
    async fn is_queued(&self) -> Option<bool> {
        let found = files::find(self.reports.db(), self.user, self.id).await.ok()?;
        Some(found.is_some_and(|file| file.job_id.is_some()))
    }

    async fn delete_object(&self) {
        crate::artefacts::delete_or_tell(&*self.reports.shared.objects, self.id, &self.key).await;
    }

    /// Marks the file as failed; tells whether it was still being uploaded, if the database answers.
    async fn fail(&self, code: &str, message: &str) -> Option<bool> {
        let error = FileError { code: code.to_owned(), message: message.to_owned() };
        let file = (self.user, self.id);
        let failed = self.reports.shared.events.write(async |tx, out| {
            let was_uploading = files::fail_upload(tx, file, &error).await?;
            if was_uploading {
                let news = News::of_upload(file, FileStatus::Failed, Some(&error.code));
                announce::state_changed(out, &news)?;
            }
            Ok::<_, ReportsError>(was_uploading)
        });
        failed.await.inspect_err(|error| self.left_behind(error)).ok()
    }

    /// Removes the file as if it had never come.
    async fn forget(&self) {
        let file = (self.user, self.id);
        let forgotten = self.reports.shared.events.write(async |tx, out| {
            if files::forget_upload(tx, file).await? {
                announce::removed(out, self.user, self.id)?;
            }
            Ok::<_, ReportsError>(())
        });
        let _ = forgotten.await.inspect_err(|error| self.left_behind(error));
    }

    fn left_behind(&self, error: &ReportsError) {
        tracing::warn!(event = "upload_left_behind", file_id = %self.id, %error,
            "an upload that ended could not be written down; the sweeper ends it");
    }
}
