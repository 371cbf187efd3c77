//! Files of journeys: each is a journey within its bounds, or is refused with mistakes that stand in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstay_journeys::Journey;
use mainstay_journeys::bounds::{MAX_RULES, MAX_STEPS, MAX_VARS};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Journey::parse(text) {
        Ok(journey) => {
            assert!((1..=MAX_STEPS).contains(&journey.steps.len()) && journey.vars.len() <= MAX_VARS);
            for (index, step) in journey.steps.iter().enumerate() {
                assert_eq!(journey.position(&step.id), Some(index), "each name once");
                for need in &step.needs {
                    let before = journey.position(&need.step).expect("a step that is there");
                    assert!(before < index, "it can be waited for");
                }
                let rules = step.poll.as_ref().map_or(1, |poll| poll.rules.len());
                assert!((1..=MAX_RULES).contains(&rules));
            }
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            let lines = u64::try_from(text.lines().count()).unwrap_or(u64::MAX).saturating_add(1);
            for mistake in mistakes {
                assert!(mistake.line >= 1 && mistake.column >= 1 && mistake.line <= lines);
                assert!(!mistake.message.is_empty());
            }
        }
    }
});
