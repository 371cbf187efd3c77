//! What holds for every text, journey or not. The fuzzer goes by it too.

use mainstay_journeys::Journey;
use mainstay_journeys::bounds::{MAX_RULES, MAX_STEPS, MAX_VARS};

/// It is a journey within its bounds, or is refused with mistakes that stand in it.
pub(crate) fn holds(text: &str) {
    match Journey::parse(text) {
        Ok(journey) => {
            assert!((1..=MAX_STEPS).contains(&journey.steps.len()));
            assert!(journey.vars.len() <= MAX_VARS);
            for (index, step) in journey.steps.iter().enumerate() {
                assert_eq!(journey.position(&step.id), Some(index), "each name once");
                let waits = step.needs.iter().map(|need| journey.position(&need.step));
                assert!(waits.into_iter().all(|before| before < Some(index) && before.is_some()));
                let rules = step.poll.as_ref().map_or(1, |poll| poll.rules.len());
                assert!((1..=MAX_RULES).contains(&rules));
            }
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            let lines = u64::try_from(text.split(['\n', '\r']).count()).unwrap_or(u64::MAX);
            for mistake in mistakes {
                let is_there = mistake.line >= 1 && mistake.line <= lines && mistake.column >= 1;
                assert!(is_there && !mistake.message.is_empty(), "{mistake:?}");
            }
        }
    }
}
