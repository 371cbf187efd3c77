//! How full the process is: the lag of its scheduler, its tasks and their queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use metrics::{Unit, describe_gauge, describe_histogram, gauge, histogram};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// How late the scheduler woke a task that asked for a certain time.
pub(crate) const LAG: &str = "mainstay_runtime_lag_seconds";
/// The upper ends of the lag's buckets, in seconds.
pub(crate) const LAG_BUCKETS: [f64; 8] = [0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 2.0];
const TASKS: &str = "mainstay_runtime_tasks";
const QUEUE: &str = "mainstay_runtime_queue_depth";

/// How often the pulse beats.
const BEAT: Duration = Duration::from_millis(500);
/// Beats between two upkeeps of the recorder: every five seconds.
const BEATS_PER_UPKEEP: u32 = 10;
/// A pulse that is older than this means that the scheduler stands still.
pub(crate) const PULSE_LIMIT: Duration = Duration::from_secs(5);

/// Gives each metric its help text.
pub(crate) fn describe() {
    describe_histogram!(LAG, Unit::Seconds, "How late the scheduler woke a waiting task.");
    describe_gauge!(TASKS, "Tasks that are alive in the runtime.");
    describe_gauge!(QUEUE, "Tasks that wait for a thread of the runtime.");
}

/// Tells whether the scheduler turns.
pub(crate) struct Pulse {
    clock: Arc<dyn Clock>,
    started: Moment,
    /// Milliseconds from `started` to the last beat.
    last: AtomicU64,
    /// Microseconds that the last beat came late.
    lag: AtomicU64,
}

impl Pulse {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let started = clock.moment();
        Arc::new(Self { clock, started, last: AtomicU64::new(0), lag: AtomicU64::new(0) })
    }

    /// The time since the last beat.
    pub(crate) fn age(&self) -> Duration {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        self.clock.moment().since(self.started.plus(last))
    }

    /// How late the last beat was.
    pub(crate) fn lag(&self) -> Duration {
        Duration::from_micros(self.lag.load(Ordering::Relaxed))
    }

    /// Beats until `stop`; every few seconds `upkeep` is called.
    pub(crate) async fn beat(&self, stop: CancellationToken, upkeep: impl Fn()) {
        let mut beats = 0_u32;
        loop {
            let asleep = self.clock.moment();
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(BEAT) => {}
            }
            self.note(self.clock.moment().since(asleep).saturating_sub(BEAT));
            beats = beats.wrapping_add(1);
            if beats.is_multiple_of(BEATS_PER_UPKEEP) {
                upkeep();
            }
        }
    }

    fn note(&self, lag: Duration) {
        let since_start = self.clock.moment().since(self.started);
        self.last.store(saturating(since_start.as_millis()), Ordering::Relaxed);
        self.lag.store(saturating(lag.as_micros()), Ordering::Relaxed);
        histogram!(LAG).record(lag.as_secs_f64());
    }
}

/// Brings the gauges of the runtime up to date.
#[expect(clippy::cast_precision_loss, reason = "nobody has 2^52 tasks")]
pub(crate) fn record(runtime: &Handle) {
    let metrics = runtime.metrics();
    gauge!(TASKS).set(metrics.num_alive_tasks() as f64);
    gauge!(QUEUE).set(metrics.global_queue_depth() as f64);
}

fn saturating(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_base::SystemClock;

    /// tokio's paused clock moves only when a test or a sleep moves it.
    struct PausedClock(tokio::time::Instant);

    impl Clock for PausedClock {
        fn now(&self) -> mainstay_base::Timestamp {
            SystemClock::new().now()
        }
        fn moment(&self) -> Moment {
            Moment::from_origin(self.0.elapsed())
        }
    }

    #[tokio::test(start_paused = true)]
    #[expect(clippy::disallowed_methods, reason = "this is tokio's paused clock")]
    async fn the_pulse_is_young_while_it_beats_and_ages_when_it_stops() {
        let clock = Arc::new(PausedClock(tokio::time::Instant::now()));
        let pulse = Pulse::new(clock);
        let stop = CancellationToken::new();
        let upkeeps = Arc::new(AtomicU64::new(0));
        let beating = tokio::spawn({
            let (pulse, stop, upkeeps) = (Arc::clone(&pulse), stop.clone(), Arc::clone(&upkeeps));
            async move {
                pulse
                    .beat(stop, || {
                        upkeeps.fetch_add(1, Ordering::Relaxed);
                    })
                    .await;
            }
        });
        tokio::time::sleep(Duration::from_secs(11)).await;
        assert!(pulse.age() <= BEAT, "{:?}", pulse.age());
        assert_eq!(upkeeps.load(Ordering::Relaxed), 2);
        stop.cancel();
        beating.await.unwrap();
        tokio::time::sleep(PULSE_LIMIT * 2).await;
        assert!(pulse.age() > PULSE_LIMIT);
    }
}
