//! A breaker and a reference side by side: the same steps go to both, and what can be seen of them
//! must be equal after each. The fuzz target includes this folder too.

mod operation;
mod picture;
mod real;
mod reference;
mod setup;

pub(crate) use operation::{STEP_BYTES, Step};
pub(crate) use real::Real;
pub(crate) use reference::Reference;
pub(crate) use setup::{SETUP_BYTES, Setup};

/// Takes a step with the breaker, and holds it against the reference, which has taken it already.
pub(crate) fn compare(real: &mut Real<'_>, reference: &Reference, step: &Step) {
    let answer = real.apply(step);
    assert_eq!(answer, reference.answer(), "the answer to {:?}", step.operation);
    if step.look {
        assert_eq!(real.picture(), reference.picture(), "after {:?}", step.operation);
        assert_eq!(real.decided(), reference.decided(), "the hedged calls");
    }
    assert_eq!(real.told(), reference.told(), "what listeners are told of {:?}", step.operation);
}

/// Whoever holds a permit goes away: nothing may be in flight then.
pub(crate) fn end(real: &mut Real<'_>) {
    real.drop_permits();
    assert_eq!(real.picture().in_flight, 0, "a slot leaked");
}
