//! The result of a poll, without its type: pollers of many types stand in one list.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// What a poll answered last. It prints as the result does, and gives it back by its type.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use mainstay_poller::{Context, EventQueue, Outcome, Span};
///
/// let queue = EventQueue::<&str>::new();
/// let ctx = Context::new(&queue, 0);
/// let poller = ctx.poll(async || 41).every(1.s()).within(5.s()).handle(|_| Outcome::settled())?;
/// let last = poller.wait().await.last_result;
/// assert_eq!(last.as_ref().and_then(|last| last.downcast_ref::<i32>()), Some(&41));
/// assert_eq!(format!("{last:?}"), "Some(41)");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Observed(Arc<dyn Answer>);

/// What every poll's result can do.
trait Answer: Any + fmt::Debug + Send + Sync {}

impl<T: Any + fmt::Debug + Send + Sync> Answer for T {}

impl Observed {
    pub(crate) fn new<T: fmt::Debug + Send + Sync + 'static>(result: Arc<T>) -> Self {
        Self(result)
    }

    /// The result, if it is of this type.
    #[must_use]
    pub fn downcast_ref<T: 'static>(&self) -> Option<&T> {
        let any: &dyn Any = &*self.0;
        any.downcast_ref()
    }
}

impl fmt::Debug for Observed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
