//! Runs come one after the other, on their interval, and what was missed is not made up.

use std::cell::RefCell;

use mainstay_base::Timestamp;
use tokio::time::{Instant, sleep, timeout};

use super::*;

/// The time of the runtime, which a test pauses.
struct Paused(Instant);

impl Clock for Paused {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(0)
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(self.0.elapsed())
    }
}

/// When runs began in the first minute, where each takes so long.
#[expect(
    clippy::disallowed_methods,
    reason = "the clock of the test is tokio's, which stands still"
)]
async fn begun(every: u64, took: &[u64]) -> Vec<u64> {
    let clock = Paused(Instant::now());
    let begun = RefCell::new(Vec::new());
    let running = async {
        let mut rhythm = Rhythm { every: Duration::from_secs(every), due: clock.moment() };
        loop {
            let place = begun.borrow().len();
            begun.borrow_mut().push(clock.0.elapsed().as_secs());
            sleep(Duration::from_secs(took.get(place).copied().unwrap_or(1))).await;
            rhythm.rest(&clock).await;
        }
    };
    let ended: Result<(), _> = timeout(Duration::from_secs(59), running).await;
    assert!(ended.is_err());
    begun.into_inner()
}

#[tokio::test(start_paused = true)]
async fn a_run_that_takes_too_long_leaves_out_what_it_missed() {
    assert_eq!(begun(10, &[]).await, [0, 10, 20, 30, 40, 50]);
    assert_eq!(begun(10, &[25]).await, [0, 30, 40, 50], "never two at once, nothing made up");
    assert_eq!(begun(10, &[100]).await, [0]);
}

#[test]
fn a_failed_journey_degrades_what_it_crosses() {
    let record = |outcome: &str, failures: serde_json::Value| -> RunRecord {
        serde_json::from_value(serde_json::json!({
            "journey": "buy", "mode": "halt", "outcome": outcome, "duration_ms": 12.5,
            "started_at": "2026-11-15T21:00:00.000Z", "vars": {}, "steps": [], "events": [],
            "pollers": [], "failures": failures,
        }))
        .unwrap()
    };
    let failure = serde_json::json!([{
        "step": "pay", "kind": "assertion", "message": "got 500", "check": null,
    }]);
    let failed = outcome(Ok(record("failed", failure)));
    assert_eq!(failed, (LocationStatus::Degraded, Some(12.5), Some("pay: got 500".to_owned())));
    let passed = outcome(Ok(record("passed", serde_json::json!([]))));
    assert_eq!(passed, (LocationStatus::Healthy, Some(12.5), None));
}
