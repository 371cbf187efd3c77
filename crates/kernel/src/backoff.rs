//! How long to wait after a failure: longer after each one in a row, up to a bound.

use std::time::Duration;

use mainstay_base::Rng;

/// The wait after the first failure, unless told otherwise.
pub const DEFAULT_BASE: Duration = Duration::from_secs(1);

/// By how much each further failure multiplies the wait, unless told otherwise.
pub const DEFAULT_MULTIPLIER: f64 = 2.0;

/// The longest wait, unless told otherwise.
pub const DEFAULT_MAX: Duration = Duration::from_secs(300);

/// Jitter takes no delay below this, so that chance never turns a wait into none.
pub const SHORTEST_JITTERED: Duration = Duration::from_millis(1);

/// How the wait grows: `min(base × multiplier^attempt, max)`, shortened by chance if asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffPolicy {
    base: Duration,
    multiplier: f64,
    max: Duration,
    jitter: f64,
}

/// A policy that can't be kept.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BackoffError {
    /// No wait at all.
    #[error("backoff base is zero, so a retry would never wait; give more than zero")]
    ZeroBase,
    /// A wait that shrinks, or is no number.
    #[error("backoff multiplier is {given}, which never grows a wait; give a finite number from 1")]
    Multiplier {
        /// What was given.
        given: f64,
    },
    /// A bound under the first wait.
    #[error("backoff max of {max:?} is below the base of {base:?}; raise max or lower base")]
    MaxBelowBase {
        /// The longest wait that was given.
        max: Duration,
        /// The first wait that was given.
        base: Duration,
    },
    /// A part of the delay that is none.
    #[error("backoff jitter is {given}, which is no part of a delay; give a fraction from 0 to 1")]
    Jitter {
        /// What was given.
        given: f64,
    },
}

impl BackoffPolicy {
    /// A policy without jitter.
    ///
    /// # Errors
    /// [`BackoffError`] names the field that makes no sense: a base of zero, a multiplier that is
    /// not finite or below 1, a max below the base.
    pub fn new(base: Duration, multiplier: f64, max: Duration) -> Result<Self, BackoffError> {
        if base.is_zero() {
            return Err(BackoffError::ZeroBase);
        }
        if !multiplier.is_finite() || multiplier < 1.0 {
            return Err(BackoffError::Multiplier { given: multiplier });
        }
        if max < base {
            return Err(BackoffError::MaxBelowBase { max, base });
        }
        Ok(Self { base, multiplier, max, jitter: 0.0 })
    }

    /// The same policy whose delays chance shortens by up to `fraction` of themselves.
    ///
    /// Jitter only ever shortens: a jittered delay stays within `max`, and above zero.
    ///
    /// # Errors
    /// [`BackoffError::Jitter`] when `fraction` is not within 0 to 1.
    pub fn with_jitter(self, fraction: f64) -> Result<Self, BackoffError> {
        if (0.0..=1.0).contains(&fraction) {
            Ok(Self { jitter: fraction, ..self })
        } else {
            Err(BackoffError::Jitter { given: fraction })
        }
    }

    /// The wait after `attempt` earlier failures in a row, before jitter.
    ///
    /// It is exact to the nanosecond when the multiplier is a whole number; after no earlier
    /// failure it is the base, whatever the multiplier.
    #[must_use]
    pub fn delay(&self, attempt: u32) -> Duration {
        if attempt == 0 {
            self.base
        } else if self.multiplier.fract() == 0.0 {
            self.grown_by_whole(attempt)
        } else {
            self.grown_by_fraction(attempt)
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 1: only one beyond 128 bits is cut, and that exceeds any max"
    )]
    fn grown_by_whole(&self, attempt: u32) -> Duration {
        // Even the longest duration has fewer than 128 bits: what saturates exceeds any max.
        let factor = (self.multiplier as u128).saturating_pow(attempt);
        let grown = self.base.as_nanos().saturating_mul(factor);
        Duration::from_nanos_u128(grown.min(self.max.as_nanos()))
    }

    fn grown_by_fraction(&self, attempt: u32) -> Duration {
        let grown = self.base.as_secs_f64() * self.multiplier.powf(f64::from(attempt));
        // What is too long for a duration, infinity included, is longer than any max.
        Duration::try_from_secs_f64(grown)
            .map_or(self.max, |delay| delay.clamp(self.base, self.max))
    }

    fn shortened(&self, delay: Duration, rng: &dyn Rng) -> Duration {
        if self.jitter == 0.0 {
            return delay;
        }
        let kept = delay.as_secs_f64() * (1.0 - self.jitter * chance(rng));
        // A huge delay may be rounded up, even out of range: jitter only shortens.
        let shortened = Duration::try_from_secs_f64(kept).unwrap_or(delay);
        shortened.clamp(SHORTEST_JITTERED.min(delay), delay)
    }
}

/// 1 s, doubled up to 300 s, without jitter.
impl Default for BackoffPolicy {
    fn default() -> Self {
        Self { base: DEFAULT_BASE, multiplier: DEFAULT_MULTIPLIER, max: DEFAULT_MAX, jitter: 0.0 }
    }
}

/// How many failures in a row one service has had. The policy is the caller's: it is one for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backoff {
    attempt: u32,
}

impl Backoff {
    /// As it was when [`Backoff::attempt`] was stored.
    #[must_use]
    pub const fn restored(attempt: u32) -> Self {
        Self { attempt }
    }

    /// The failures in a row so far: what to store.
    #[must_use]
    pub const fn attempt(self) -> u32 {
        self.attempt
    }

    /// Counts a failure and says how long to wait from it: the policy's delay, but never less than
    /// `interval` (which may also be the wait that the other side asked for).
    ///
    /// An `interval` longer than the delay hides its jitter: the wait is then just `interval`, for
    /// everyone who failed. Chance keeps apart only those whose delay is the longer one; intervals
    /// are kept apart from the start, by [`spread`](crate::spread).
    pub fn next_delay(
        &mut self,
        policy: &BackoffPolicy,
        interval: Duration,
        rng: &dyn Rng,
    ) -> Duration {
        let delay = policy.shortened(policy.delay(self.attempt), rng);
        self.attempt = self.attempt.saturating_add(1);
        delay.max(interval)
    }

    /// A success: the next failure is a first one.
    pub fn reset(&mut self) {
        self.attempt = 0;
    }
}

/// A number from 0 up to, but not including, 1.
fn chance(rng: &dyn Rng) -> f64 {
    let mut bytes = [0_u8; 4];
    rng.fill(&mut bytes);
    f64::from(u32::from_le_bytes(bytes)) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fills with one byte: 0 is the least chance, 255 the most.
    struct Fixed(u8);

    impl Rng for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    /// Chance where none may be taken.
    struct NoChance;

    impl Rng for NoChance {
        fn fill(&self, _: &mut [u8]) {
            panic!("a policy without jitter drew a number");
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn jittered(fraction: f64) -> BackoffPolicy {
        BackoffPolicy::default().with_jitter(fraction).unwrap()
    }

    #[test]
    fn the_default_goes_from_one_second_to_five_minutes() {
        let policy = BackoffPolicy::default();
        let mut backoff = Backoff::default();
        for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
            let delay = backoff.next_delay(&policy, Duration::ZERO, &NoChance);
            assert_eq!(delay, Duration::from_secs(seconds));
        }
    }

    #[test]
    fn the_default_is_a_policy_that_can_be_made() {
        let made = BackoffPolicy::new(DEFAULT_BASE, DEFAULT_MULTIPLIER, DEFAULT_MAX);
        assert_eq!(made, Ok(BackoffPolicy::default()));
    }

    #[test]
    fn a_success_makes_the_next_failure_a_first_one() {
        let policy = BackoffPolicy::default();
        let mut backoff = Backoff::restored(7);
        assert_eq!(backoff.next_delay(&policy, SECOND, &NoChance), Duration::from_secs(128));
        backoff.reset();
        assert_eq!(backoff, Backoff::default());
        assert_eq!(backoff.next_delay(&policy, Duration::ZERO, &NoChance), SECOND);
    }

    #[test]
    fn a_failure_never_shortens_the_interval() {
        let (policy, interval) = (BackoffPolicy::default(), Duration::from_secs(30));
        let mut backoff = Backoff::default();
        for seconds in [30, 30, 30, 30, 30, 32, 64] {
            let delay = backoff.next_delay(&policy, interval, &NoChance);
            assert_eq!(delay, Duration::from_secs(seconds));
        }
    }

    #[test]
    fn what_was_stored_goes_on_where_it_was() {
        let policy = BackoffPolicy::default();
        let mut backoff = Backoff::default();
        let _ = backoff.next_delay(&policy, SECOND, &NoChance);
        let _ = backoff.next_delay(&policy, SECOND, &NoChance);
        assert_eq!(backoff.attempt(), 2);
        let mut restored = Backoff::restored(backoff.attempt());
        assert_eq!(restored.next_delay(&policy, SECOND, &NoChance), Duration::from_secs(4));
    }

    #[test]
    fn no_number_of_failures_is_too_many() {
        let mut backoff = Backoff::restored(u32::MAX);
        let policy = BackoffPolicy::default();
        assert_eq!(backoff.next_delay(&policy, SECOND, &NoChance), DEFAULT_MAX);
        assert_eq!(backoff.attempt(), u32::MAX);
    }

    #[test]
    fn the_longest_of_everything_holds() {
        let policy = BackoffPolicy::new(Duration::MAX, f64::MAX, Duration::MAX).unwrap();
        for attempt in [0, 1, u32::MAX] {
            assert_eq!(policy.delay(attempt), Duration::MAX);
        }
        let steady = BackoffPolicy::new(Duration::from_nanos(1), 1.0, Duration::MAX).unwrap();
        assert_eq!(steady.delay(u32::MAX), Duration::from_nanos(1));
    }

    #[test]
    fn a_long_base_grows_to_the_nanosecond() {
        let base = Duration::from_secs(100 * 86_400) + Duration::from_nanos(1);
        let policy = BackoffPolicy::new(base, 3.0, Duration::MAX).unwrap();
        assert_eq!(policy.delay(0), base);
        assert_eq!(policy.delay(1), base * 3);
        assert_eq!(policy.delay(7), base * 2_187);
        let fractional = BackoffPolicy::new(base, 1.5, Duration::MAX).unwrap();
        assert_eq!(fractional.delay(0), base);
    }

    #[test]
    fn a_whole_multiplier_of_any_size_is_exact_or_the_max() {
        let nanosecond = Duration::from_nanos(1);
        let by = |multiplier| BackoffPolicy::new(nanosecond, multiplier, Duration::MAX).unwrap();
        let two_to_the_64 = Duration::from_nanos_u128(1 << 64);
        assert_eq!(by(18_446_744_073_709_551_616.0).delay(1), two_to_the_64);
        assert_eq!(by(2.0).delay(64), two_to_the_64);
        for (multiplier, attempt) in [(2.0, 94), (2.0, u32::MAX), (1e300, 1), (3.0, 1 << 31)] {
            assert_eq!(by(multiplier).delay(attempt), Duration::MAX, "{multiplier}^{attempt}");
        }
    }

    #[test]
    fn a_policy_that_makes_no_sense_is_refused_by_name() {
        let new = BackoffPolicy::new;
        let told = |refused: Result<BackoffPolicy, BackoffError>| refused.unwrap_err().to_string();
        assert_eq!(new(Duration::ZERO, 2.0, SECOND), Err(BackoffError::ZeroBase));
        for given in [0.99, 0.0, -2.0, f64::INFINITY, f64::NAN] {
            let refused = new(SECOND, given, SECOND);
            assert!(matches!(refused, Err(BackoffError::Multiplier { .. })), "{given}");
            assert!(told(refused).contains(&format!("multiplier is {given}")));
        }
        let max = Duration::from_millis(999);
        assert_eq!(new(SECOND, 2.0, max), Err(BackoffError::MaxBelowBase { max, base: SECOND }));
        for given in [-0.01, 1.01, f64::INFINITY, f64::NAN] {
            let refused = BackoffPolicy::default().with_jitter(given);
            assert!(told(refused).contains(&format!("jitter is {given}")));
        }
    }

    #[test]
    fn the_edges_of_a_policy_are_inside() {
        assert!(BackoffPolicy::new(SECOND, 1.0, SECOND).is_ok());
        assert!(BackoffPolicy::default().with_jitter(0.0).is_ok());
        assert!(BackoffPolicy::default().with_jitter(1.0).is_ok());
    }

    #[test]
    fn jitter_shortens_by_up_to_its_fraction() {
        let wait = |policy: &BackoffPolicy, chance: u8| {
            Backoff::restored(3).next_delay(policy, Duration::ZERO, &Fixed(chance)).as_secs_f64()
        };
        for (fraction, chance, seconds) in [
            (0.5, 0, 8.0),
            (0.5, 0x80, 8.0 - 4.0 * 0.501_960_784),
            (0.5, 0xFF, 4.0),
            (0.25, 0xFF, 6.0),
            (0.0, 0xFF, 8.0),
        ] {
            let waited = wait(&jittered(fraction), chance);
            assert!((waited - seconds).abs() < 1e-6, "{fraction} {chance}: {waited}");
        }
    }

    #[test]
    fn chance_goes_from_nothing_to_less_than_all() {
        assert!(chance(&Fixed(0)) <= 0.0);
        assert!(chance(&Fixed(0xFF)) > 0.999 && chance(&Fixed(0xFF)) < 1.0);
    }

    #[test]
    fn full_jitter_still_waits() {
        let policy = BackoffPolicy::new(Duration::from_millis(2), 2.0, SECOND).unwrap();
        let full = policy.with_jitter(1.0).unwrap();
        let waited = Backoff::default().next_delay(&full, Duration::ZERO, &Fixed(0xFF));
        assert_eq!(waited, SHORTEST_JITTERED);
    }

    #[test]
    fn the_longest_delay_holds_under_jitter() {
        let policy = BackoffPolicy::new(Duration::MAX, 1.0, Duration::MAX).unwrap();
        let policy = policy.with_jitter(0.5).unwrap();
        let wait = |chance| Backoff::default().next_delay(&policy, SECOND, &Fixed(chance));
        assert_eq!(wait(0), Duration::MAX);
        assert!(wait(0xFF) < Duration::MAX);
    }

    #[test]
    fn an_interval_longer_than_the_delay_swallows_its_jitter() {
        let (policy, interval) = (jittered(0.5), Duration::from_secs(30));
        for chance in [0, 0xFF] {
            let waited = Backoff::restored(3).next_delay(&policy, interval, &Fixed(chance));
            assert_eq!(waited, interval);
        }
        let longer = Backoff::restored(5).next_delay(&policy, interval, &Fixed(0));
        assert_eq!(longer, Duration::from_secs(32));
    }

    #[test]
    fn a_delay_below_the_shortest_is_not_lengthened() {
        let tiny = Duration::from_micros(3);
        let policy = BackoffPolicy::new(tiny, 1.0, tiny).unwrap().with_jitter(1.0).unwrap();
        assert_eq!(Backoff::default().next_delay(&policy, Duration::ZERO, &Fixed(0xFF)), tiny);
    }
}
