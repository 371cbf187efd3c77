//! The real storage, with calls that fail or wait when a test says so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    /// Each of these fails until it is taken out; with a time, it is not even asked for.
    failing: Mutex<HashMap<Call, (ObjectErrorKind, Option<Duration>)>>,
    /// So many calls are left, of whatever kind, until one of them fails.
    once: Mutex<Option<(usize, ObjectErrorKind)>>,
    /// How often each was called.
    calls: Mutex<HashMap<Call, usize>>,
    /// Each of these waits for a permit.
    gates: Mutex<HashMap<Call, Arc<Semaphore>>>,
}

impl Faults {
    pub(crate) fn fail(&self, call: Call, kind: ObjectErrorKind) {
        self.failing.lock().unwrap().insert(call, (kind, None));
    }

    /// The storage is left alone by its breaker, as far as this call goes.
    pub(crate) fn leave_alone(&self, call: Call, wait: Duration) {
        self.failing.lock().unwrap().insert(call, (ObjectErrorKind::Transient, Some(wait)));
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

    /// Puts that are done wait before they say so.
    pub(crate) fn hold_puts(&self) -> Arc<Semaphore> {
        self.hold(Call::Stored)
    }

    /// Such calls wait until there is a permit for each.
    pub(crate) fn hold(&self, call: Call) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.gates.lock().unwrap().insert(call, Arc::clone(&gate));
        gate
    }

    async fn pass(&self, call: Call) -> Result<(), ObjectError> {
        self.note(call)?;
        let gate = self.gates.lock().unwrap().get(&call).cloned();
        if let Some(gate) = gate {
            gate.acquire().await.unwrap().forget();
        }
        Ok(())
    }

    fn note(&self, call: Call) -> Result<(), ObjectError> {
        *self.calls.lock().unwrap().entry(call).or_default() += 1;
        let once = self.fails_now().map(|kind| (kind, None));
        match once.or_else(|| self.failing.lock().unwrap().get(&call).copied()) {
            Some((kind, retry_after)) => {
                let message = format!("{call:?} fails");
                Err(ObjectError { kind, message, retry_after })
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
            self.faults.pass(Call::Stored).await
        }
        .boxed()
    }

    fn get<'a>(&'a self, key: &'a str, most: usize) -> BoxFuture<'a, Result<Bytes, ObjectError>> {
        async move {
            self.faults.pass(Call::Get).await?;
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
            self.faults.pass(Call::List).await?;
            Objects::list(&self.real, prefix, after, limit).await
        }
        .boxed()
    }

    fn clear_abandoned(&self) -> BoxFuture<'_, Result<u64, ObjectError>> {
        Objects::clear_abandoned(&self.real)
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
            self.faults.pass(Call::Finished).await?;
            Ok(size)
        }
        .boxed()
    }

    fn abort(mut self: Box<Self>) -> BoxFuture<'static, ()> {
        async move { self.real.take().unwrap().abort().await }.boxed()
    }
}
