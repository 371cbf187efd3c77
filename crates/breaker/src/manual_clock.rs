//! A clock that stands still until a test moves it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::moment::Moment;

/// A clock that stands still until a test moves it. Clones are the same clock.
///
/// ```
/// use std::time::Duration;
/// use mainstay_breaker::{Breaker, ManualClock, State};
///
/// let clock = ManualClock::new();
/// let breaker = Breaker::builder("payments").clock(clock.clone()).build()?;
/// for _ in 0..5 {
///     let _ = breaker.run(|| Err::<(), _>("down"));
/// }
/// assert_eq!(breaker.state(), State::Open);
/// clock.advance(Duration::from_secs(5));
/// assert_eq!(breaker.state(), State::HalfOpen);
/// # Ok::<(), mainstay_breaker::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ManualClock {
    hands: Arc<Mutex<Hands>>,
}

#[derive(Debug, Default)]
struct Hands {
    now: Moment,
    #[cfg(feature = "async")]
    waiting: Vec<std::task::Waker>,
}

impl ManualClock {
    /// Stands one hour after its origin, so that it can be moved back.
    #[must_use]
    pub fn new() -> Self {
        let clock = Self::default();
        clock.advance(Duration::from_secs(3_600));
        clock
    }

    /// Moves on, and wakes whoever waits for it.
    pub fn advance(&self, duration: Duration) {
        self.turn(|now| now.plus(duration));
    }

    /// Moves back, as no clock should.
    pub fn step_back(&self, duration: Duration) {
        let nanos = crate::moment::whole_nanos(duration);
        self.turn(|now| Moment::from_nanos(now.as_nanos().saturating_sub(nanos)));
    }

    fn turn(&self, turn: impl FnOnce(Moment) -> Moment) {
        let mut hands = self.hands();
        hands.now = turn(hands.now);
        #[cfg(feature = "async")]
        {
            let waiting = std::mem::take(&mut hands.waiting);
            drop(hands);
            waiting.into_iter().for_each(std::task::Waker::wake);
        }
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Moment {
        self.hands().now
    }

    #[cfg(feature = "async")]
    fn sleep(&self, duration: Duration) -> crate::clock::Sleep {
        let clock = self.clone();
        let until = clock.now().plus(duration);
        Box::pin(std::future::poll_fn(move |context| {
            let mut hands = clock.hands();
            if hands.now >= until {
                return std::task::Poll::Ready(());
            }
            if !hands.waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                hands.waiting.push(context.waker().clone());
            }
            std::task::Poll::Pending
        }))
    }
}
