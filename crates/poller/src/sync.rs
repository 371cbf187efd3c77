//! The locks and tasks of the poller. The checker of interleavings puts its own in their place.

use std::sync::PoisonError;

#[cfg(mainstay_shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(mainstay_shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Takes a lock. Of a caller's code only the clock runs while one is held, and the data is whole even if
/// that panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there is a runtime to put a task on.
#[cfg(not(mainstay_shuttle))]
pub(crate) fn can_spawn() -> bool {
    tokio::runtime::Handle::try_current().is_ok()
}

#[cfg(mainstay_shuttle)]
pub(crate) fn can_spawn() -> bool {
    true
}

/// Puts a task on the runtime. It is owned by who can stop it: see [`crate::poller`].
#[cfg(not(mainstay_shuttle))]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    drop(tokio::spawn(task));
}

#[cfg(mainstay_shuttle)]
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    drop(shuttle::future::spawn(task));
}
