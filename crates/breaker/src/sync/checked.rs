//! What the checkers of interleavings lack, built from what they have.

use std::cell::Cell;

use super::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};

#[cfg(mainstay_loom)]
use loom::{lazy_static, thread_local};
#[cfg(mainstay_shuttle)]
use shuttle::{lazy_static, thread_local};

lazy_static! {
    static ref NEXT: AtomicUsize = AtomicUsize::new(0);
}

thread_local! {
    static NUMBER: Cell<Option<usize>> = Cell::new(None);
}

/// A small number for each thread, the same ones in every run.
pub(crate) fn thread_number() -> usize {
    NUMBER.with(|number| {
        let mine = number.get().unwrap_or_else(|| NEXT.fetch_add(1, Ordering::Relaxed));
        number.set(Some(mine));
        mine
    })
}

/// Written once. The value is in one of the standard library, which the checkers do not see: what
/// they see is a flag that is set after the value, and a lock for those who come at the same time.
#[derive(Debug)]
pub(crate) struct OnceLock<T> {
    is_set: AtomicBool,
    setting: Mutex<()>,
    value: std::sync::OnceLock<T>,
}

impl<T> OnceLock<T> {
    pub(crate) fn new() -> Self {
        Self {
            is_set: AtomicBool::new(false),
            setting: Mutex::new(()),
            value: std::sync::OnceLock::new(),
        }
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_set.load(Ordering::Acquire) { self.value.get() } else { None }
    }

    pub(crate) fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        let setting = lock(&self.setting);
        let is_new = self.value.get().is_none();
        let value = self.value.get_or_init(make);
        if is_new {
            self.is_set.store(true, Ordering::Release);
        }
        drop(setting);
        value
    }
}
