//! Catches panics of a caller's code, with the backtrace of the place where they began.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Arc, Once};

/// A panic that was caught.
#[derive(Debug, Clone)]
pub(crate) struct Raised {
    pub(crate) panic: String,
    pub(crate) backtrace: Arc<Backtrace>,
}

thread_local! {
    /// How many catches this thread is inside of.
    static CATCHING: Cell<u32> = const { Cell::new(0) };
    /// Where the last panic within them began: only the hook can see that.
    static BEGAN: RefCell<Option<Backtrace>> = const { RefCell::new(None) };
}

/// Runs a caller's code. The program's own panic hook is told of a panic as always.
pub(crate) fn catch<R>(code: impl FnOnce() -> R) -> Result<R, Raised> {
    install();
    let catching = Catching::begin();
    let caught = catch_unwind(AssertUnwindSafe(code));
    drop(catching);
    caught.map_err(|payload| Raised::new(payload.as_ref()))
}

impl Raised {
    fn new(payload: &(dyn Any + Send)) -> Self {
        // Where another hook took the place of ours, nobody knows where the panic began.
        let began = BEGAN.with(|began| began.borrow_mut().take()).unwrap_or(Backtrace::disabled());
        Self { panic: text(payload), backtrace: Arc::new(began) }
    }

    /// One that nobody caught, seen while it unwinds.
    pub(crate) fn unseen() -> Self {
        let panic = "a future of the poll panicked while it was dropped".to_owned();
        Self { panic, backtrace: Arc::new(Backtrace::disabled()) }
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a value that is no text").to_owned()
}

/// Puts a hook in front of the program's own, once. It does nothing but look, and only where a catch is
/// under way.
fn install() {
    static INSTALLED: Once = Once::new();
    // A thread that panics must not change hooks.
    if INSTALLED.is_completed() || std::thread::panicking() {
        return;
    }
    INSTALLED.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if CATCHING.with(Cell::get) > 0 {
                let trace = Backtrace::force_capture();
                BEGAN.with(|began| began.replace(Some(trace)));
            }
            before(panic);
        }));
    });
}

struct Catching;

impl Catching {
    fn begin() -> Self {
        CATCHING.with(|depth| depth.set(depth.get().saturating_add(1)));
        Self
    }
}

impl Drop for Catching {
    fn drop(&mut self) {
        CATCHING.with(|depth| depth.set(depth.get().saturating_sub(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn a_place_to_be_found() {
        panic!("{}", "out of cheese");
    }

    #[test]
    fn a_panic_is_caught_with_the_place_where_it_began() {
        let raised = catch(a_place_to_be_found).unwrap_err();
        assert_eq!(raised.panic, "out of cheese");
        assert!(raised.backtrace.to_string().contains("a_place_to_be_found"));
    }

    #[test]
    fn a_panic_without_a_text_is_told_as_such() {
        let raised = catch(|| std::panic::panic_any(7)).unwrap_err();
        assert_eq!(raised.panic, "a value that is no text");
    }

    #[test]
    fn a_catch_within_a_catch_takes_its_own() {
        let outer = catch(|| {
            assert!(catch(|| panic!("inner")).is_err());
            panic!("outer");
        });
        assert_eq!(outer.unwrap_err().panic, "outer");
    }
}
