//! Sequences of operations on a breaker and on the naive reference of its tests.
#![no_main]

use libfuzzer_sys::arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/breaker/tests/model/pair/mod.rs"]
mod pair;

use pair::{Real, Reference, SETUP_BYTES, STEP_BYTES, Setup, Step};

/// Decoded before it runs, so that a finding is shown as steps and not as bytes.
#[derive(Debug)]
struct Case {
    setup: Setup,
    steps: Vec<Step>,
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<Self> {
        let setup = Setup::decode(&bytes.arbitrary::<[u8; SETUP_BYTES]>()?);
        let mut steps = Vec::new();
        while bytes.len() >= STEP_BYTES {
            steps.push(Step::decode(bytes.arbitrary()?));
        }
        Ok(Self { setup, steps })
    }
}

fuzz_target!(|case: Case| {
    let mut reference = Reference::new(case.setup);
    let (breaker, clock) = reference.setup().build();
    let mut real = Real::new(&breaker, clock, reference.setup().clone());
    for step in &case.steps {
        reference.apply(step);
        pair::compare(&mut real, &reference, step);
    }
    pair::end(&mut real);
});
