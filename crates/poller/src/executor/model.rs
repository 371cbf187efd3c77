//! What events are folded into.

use crate::queue::Entry;
use crate::reason::Reason;

/// What the events of a run are folded into, in the order of their arrival: a projection, a check, a
/// display. `()` folds nothing.
pub trait Model<E> {
    /// Takes one event in.
    ///
    /// # Errors
    /// When the event contradicts what came before: a failure of the run, as the mode says.
    fn fold(&mut self, entry: &Entry<E>) -> Result<(), Reason>;
}

impl<E> Model<E> for () {
    fn fold(&mut self, _: &Entry<E>) -> Result<(), Reason> {
        Ok(())
    }
}

impl<E, F: FnMut(&Entry<E>) -> Result<(), Reason>> Model<E> for F {
    fn fold(&mut self, entry: &Entry<E>) -> Result<(), Reason> {
        self(entry)
    }
}
