//! Puts a breaker together.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::check::{ConfigError, Problem, Wrong, some_time};
use super::{Detector, HalfOpenPolicy, LatencyOf, Settings};
use crate::breaker::Breaker;
use crate::classify::{ByError, EveryError};
use crate::clock::{Clock, ClockSource};
use crate::events::{Listener, MAX_LISTENERS, Notice};
use crate::machine::{Rule, Rules};
use crate::state::Verdict;

/// The longest name of a breaker, in bytes.
pub const MAX_NAME: usize = 200;

/// Where every duration is at least this long, the rough clock is good enough.
const ROUGH_IS_ENOUGH: Duration = Duration::from_secs(1);

/// Puts a breaker together. What is not said has the default that its method names.
#[must_use = "a builder does nothing until it builds"]
pub struct Builder<C = EveryError> {
    name: String,
    detector: Detector,
    open_for: Duration,
    half_open: HalfOpenPolicy,
    half_open_for: Duration,
    timeout: Option<Duration>,
    clock: ClockSource,
    latency: LatencyOf,
    listeners: Vec<Listener>,
    classifier: C,
}

impl Builder {
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            detector: Detector::default(),
            open_for: Duration::from_secs(5),
            half_open: HalfOpenPolicy::default(),
            half_open_for: Duration::from_secs(60),
            timeout: None,
            clock: ClockSource::System,
            latency: LatencyOf::default(),
            listeners: Vec::new(),
            classifier: EveryError,
        }
    }
}

impl<C> Builder<C> {
    /// What opens it. Default: five consecutive failures.
    pub fn detector(mut self, detector: impl Into<Detector>) -> Self {
        self.detector = detector.into();
        self
    }

    /// How long it refuses calls before it lets probes through. Default: 5 seconds.
    pub fn open_for(mut self, duration: Duration) -> Self {
        self.open_for = duration;
        self
    }

    /// How it finds out whether the downstream is back. Default: three probes, all of which must
    /// succeed.
    pub fn half_open(mut self, policy: HalfOpenPolicy) -> Self {
        self.half_open = policy;
        self
    }

    /// How long a probe may take: then it is lost, and a fresh one may start. Each has its own time,
    /// whoever comes beside it. Default: 60 seconds.
    pub fn half_open_for(mut self, duration: Duration) -> Self {
        self.half_open_for = duration;
        self
    }

    /// How long an asynchronous call may take: then it is dropped and counts as a failure. It does
    /// not hold for [`Breaker::run`] and permits: nobody can stop a thread that blocks. Default: as
    /// long as it likes.
    #[cfg(feature = "async")]
    pub fn timeout(mut self, duration: Duration) -> Self {
        self.timeout = Some(duration);
        self
    }

    /// Another clock, such as a [`ManualClock`](crate::ManualClock). Default: the machine's.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = ClockSource::Given(Arc::new(clock));
        self
    }

    /// Which calls have their latency measured. Default: a sample.
    pub fn latency(mut self, latency: LatencyOf) -> Self {
        self.latency = latency;
        self
    }

    /// Calls `listener` with everything that happens, after the lock is released. It may panic or use
    /// the breaker: that changes nothing that was recorded. It runs within a call, which waits for it.
    ///
    /// It listens as long as the breaker lives. So it must not hold the breaker, by whatever way: the two
    /// would keep each other in memory for ever. A listener that needs its breaker is one for
    /// [`Breaker::on_event`], whose subscription can be dropped.
    pub fn on_event(mut self, listener: impl Fn(&Notice<'_>) + Send + Sync + 'static) -> Self {
        self.listeners.push(Listener::new(listener));
        self
    }

    /// Which errors count. Default: all of them.
    ///
    /// ```
    /// use mainstay_breaker::{Breaker, Verdict};
    ///
    /// let breaker = Breaker::builder("payments")
    ///     .classify_errors(|status: &u16| if *status < 500 { Verdict::Ignore } else { Verdict::Failure })
    ///     .build()?;
    /// let _ = breaker.run(|| Err::<(), u16>(404));
    /// assert_eq!(breaker.snapshot().failure_total, 0);
    /// # Ok::<(), mainstay_breaker::ConfigError>(())
    /// ```
    pub fn classify_errors<E>(
        self,
        classify: impl Fn(&E) -> Verdict + Send + Sync + 'static,
    ) -> Builder<ByError<E>> {
        self.classifier(ByError::new(classify))
    }

    /// Which results count, by a classifier of your own. Default: [`EveryError`].
    pub fn classifier<D>(self, classifier: D) -> Builder<D> {
        Builder {
            name: self.name,
            detector: self.detector,
            open_for: self.open_for,
            half_open: self.half_open,
            half_open_for: self.half_open_for,
            timeout: self.timeout,
            clock: self.clock,
            latency: self.latency,
            listeners: self.listeners,
            classifier,
        }
    }

    /// Checks everything and puts it together.
    ///
    /// # Errors
    /// When it can't work: the error names the field and what is wrong with it.
    pub fn build(self) -> Result<Breaker<C>, ConfigError> {
        let (settings, classifier) = self.checked()?;
        Ok(Breaker::new(Arc::new(settings), None, classifier))
    }

    pub(crate) fn checked(self) -> Result<(Settings, C), ConfigError> {
        let rules = self.check().map_err(|(field, problem)| {
            let breaker = self.name.chars().take(MAX_NAME).collect();
            ConfigError { breaker, field, problem }
        })?;
        let settings = Settings {
            name: self.name.into(),
            is_exact: rules.shortest() < ROUGH_IS_ENOUGH,
            rules,
            timeout: self.timeout,
            clock: self.clock,
            latency: self.latency,
            listeners: self.listeners.into(),
        };
        Ok((settings, self.classifier))
    }

    fn check(&self) -> Result<Rules, Wrong> {
        check_name(&self.name)?;
        let (detectors, slow_call) = self.detector.check()?;
        some_time("open_for", self.open_for)?;
        let (at_once, close) = self.half_open.check()?;
        some_time("half_open_for", self.half_open_for)?;
        self.check_timeout()?;
        if self.listeners.len() > MAX_LISTENERS {
            let (given, most) = (self.listeners.len() as u64, MAX_LISTENERS as u64);
            let because = "each of them runs within a call";
            return Err(("on_event", Problem::TooMany { given, most, because }));
        }
        Ok(Rules {
            detectors,
            slow_call,
            open_for: self.open_for,
            half_open_for: self.half_open_for,
            at_once,
            close,
        })
    }

    fn check_timeout(&self) -> Result<(), Wrong> {
        let Some(timeout) = self.timeout else { return Ok(()) };
        some_time("timeout", timeout)?;
        if timeout >= self.half_open_for {
            let (given, than) = (self.half_open_for, timeout);
            let because = "a probe must not be lost before its timeout";
            return Err(("half_open_for", Problem::NotLonger { given, than, because }));
        }
        Ok(())
    }
}

fn check_name(name: &str) -> Result<(), Wrong> {
    if name.trim().is_empty() {
        return Err(("name", Problem::Empty));
    }
    if name.len() > MAX_NAME {
        return Err(("name", Problem::TooLong { given: name.len(), most: MAX_NAME }));
    }
    if name.chars().any(char::is_control) {
        return Err(("name", Problem::ControlCharacters));
    }
    Ok(())
}

impl Rules {
    fn shortest(&self) -> Duration {
        let windows = self.detectors.iter().filter_map(|rule| match rule {
            Rule::Rolling { window, .. } => Some(*window),
            Rule::Consecutive(_) | Rule::Ring { .. } => None,
        });
        let fixed = [self.open_for, self.half_open_for];
        windows.chain(fixed).chain(self.slow_call).min().unwrap_or_default()
    }
}

impl<C> fmt::Debug for Builder<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Builder")
            .field("name", &self.name)
            .field("detector", &self.detector)
            .field("open_for", &self.open_for)
            .field("half_open", &self.half_open)
            .field("half_open_for", &self.half_open_for)
            .field("timeout", &self.timeout)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
