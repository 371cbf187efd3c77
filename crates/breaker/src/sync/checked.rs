//! What the checkers of interleavings lack, built from what they have.

use super::{AtomicBool, Mutex, Ordering, lock};

/// A small number for each thread, the same in every run.
#[cfg(mainstay_shuttle)]
pub(crate) fn thread_number() -> usize {
    shuttle::thread::current().id().into()
}

/// A small number for each thread, the same in every run. Loom has it but in print.
#[cfg(mainstay_loom)]
pub(crate) fn thread_number() -> usize {
    let printed = format!("{:?}", loom::thread::current().id());
    let digits: String = printed.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
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
