//! The breaker against a naive reference: whatever is done to both, in whatever order, what can be
//! seen of them is the same.
#![cfg(test)]

mod found;
mod pair;

use pair::{Real, Reference, SETUP_BYTES, STEP_BYTES, Setup, Step};
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};

/// What fits into the quick tests. `PROPTEST_CASES` says otherwise.
const CASES: u32 = 6_000;

/// Steps of a case: enough to open, close and open again.
const MOST_STEPS: usize = 200;

struct Model;

impl ReferenceStateMachine for Model {
    type State = Reference;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Reference> {
        let setup = any::<[u8; SETUP_BYTES]>().prop_map(|bytes| Setup::decode(&bytes));
        setup.prop_map(Reference::new).boxed()
    }

    fn transitions(_: &Reference) -> BoxedStrategy<Step> {
        any::<[u8; STEP_BYTES]>().prop_map(Step::decode).boxed()
    }

    fn apply(mut state: Reference, step: &Step) -> Reference {
        state.apply(step);
        state
    }
}

struct SideBySide;

impl StateMachineTest for SideBySide {
    /// Permits borrow their breaker, and the runner wants to own both: the breaker is leaked.
    type SystemUnderTest = Real<'static>;
    type Reference = Model;

    fn init_test(reference: &Reference) -> Real<'static> {
        let (breaker, clock) = reference.setup().build();
        Real::new(Box::leak(Box::new(breaker)), clock, reference.setup().clone())
    }

    fn apply(mut real: Real<'static>, reference: &Reference, step: Step) -> Real<'static> {
        pair::compare(&mut real, reference, &step);
        real
    }

    fn teardown(mut real: Real<'static>, _: Reference) {
        pair::end(&mut real);
    }
}

fn config() -> ProptestConfig {
    // A case that failed becomes a test with a name in `found`, not a file of seeds.
    ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() }
}

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn the_breaker_is_what_the_reference_is(sequential 1..MOST_STEPS => SideBySide);
}
