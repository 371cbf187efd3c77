//! The locks and atomics of the breaker. The checkers of interleavings put theirs in their place.

#[cfg(any(mainstay_loom, mainstay_shuttle))]
mod checked;

#[cfg(any(mainstay_loom, mainstay_shuttle))]
pub(crate) use checked::{OnceLock, thread_number};
#[cfg(mainstay_loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
#[cfg(mainstay_shuttle)]
pub(crate) use shuttle::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};
#[cfg(not(any(mainstay_loom, mainstay_shuttle)))]
pub(crate) use std::sync::{
    Mutex, MutexGuard, OnceLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use std::sync::PoisonError;

/// Whether a checker of interleavings is at work: then rare things happen at once.
pub(crate) const IS_CHECKED: bool = cfg!(any(mainstay_loom, mainstay_shuttle));

/// Takes a lock. No code of the breaker panics while it holds one, and where a clock does its data is
/// whole all the same: a poisoned lock is taken as it is.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
