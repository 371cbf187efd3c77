//! All cases in turn, round by round, so that a noisy second hits everyone.

use anyhow::Context as _;
use mainstay_benches::figure::median;

use crate::cases::{BARE_ASYNC, BARE_SYNC, Case, FLOOR, Over};

const ROUNDS: usize = 31;
/// The calls that tell how many fit into a round. They also warm the caches.
const WARM: u32 = 2_000;
const MIN_CALLS: f64 = 1_000.0;
const MAX_CALLS: f64 = 200_000.0;
/// How long a round of one case lasts at most, in nanoseconds, unless `MIN_CALLS` last longer.
const ROUND_NANOS: f64 = 20e6;

/// The middle of a case's rounds.
pub(crate) struct Measured {
    pub(crate) contestant: &'static str,
    pub(crate) name: String,
    pub(crate) nanos: f64,
}

/// Measures every case `ROUNDS` times, over the bare call of the same round.
pub(crate) fn run(mut cases: Vec<Case>) -> anyhow::Result<Vec<Measured>> {
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(ROUNDS); cases.len()];
    for _ in 0..ROUNDS {
        let (mut bare_sync, mut bare_async) = (0.0, 0.0);
        for (case, times) in cases.iter_mut().zip(&mut times) {
            let nanos = round(case)
                .with_context(|| format!("{} of {} failed", case.name, case.contestant))?;
            match (case.contestant, case.name.as_str()) {
                (FLOOR, BARE_SYNC) => bare_sync = nanos,
                (FLOOR, BARE_ASYNC) => bare_async = nanos,
                _ => {}
            }
            times.push(match case.over {
                Over::BareSync => nanos - bare_sync,
                Over::BareAsync => nanos - bare_async,
                Over::Nothing => nanos,
            });
        }
    }
    let middle = |(case, times): (Case, _)| Measured {
        contestant: case.contestant,
        name: case.name,
        nanos: median(times),
    };
    Ok(cases.into_iter().zip(times).map(middle).collect())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number of calls stands between its two limits"
)]
fn round(case: &mut Case) -> anyhow::Result<f64> {
    let guess = (case.round)(case.warm.max(WARM))?;
    (case.round)((ROUND_NANOS / guess).clamp(MIN_CALLS, MAX_CALLS) as u32)
}
