//! What speaks against the downstream while the breaker is closed.

use super::count_ring::CountRing;
use super::rules::{Rule, Threshold};
use super::starts::Starts;
use super::time_ring::TimeRing;
use super::{Reading, Rules};
use crate::moment::Moment;

/// The results that the detector has seen since it was last reset, beside the numbers it goes by:
/// what a result needs stands together. The common case, a count of consecutive failures, needs no
/// memory of its own.
#[derive(Debug)]
pub(crate) enum Evidence {
    Consecutive(Streak),
    Windows(Box<Windows>),
}

#[derive(Debug)]
pub(crate) struct Windows {
    /// Most detectors have one part: it needs no detour.
    first: Part,
    others: Box<[Part]>,
    starts: Option<Starts>,
    /// Whether any part looks at when a result came in.
    has_time: bool,
}

#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "parts are few, and a result finds its window at once"
)]
enum Part {
    Consecutive(Streak),
    Rolling(TimeRing, Threshold),
    Ring(CountRing, Threshold),
}

/// Failures with no success between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streak {
    failures: u32,
    limit: u32,
}

/// What the detector has seen, by kind. Of several of one kind, the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Readings {
    pub(crate) consecutive: Option<u32>,
    pub(crate) rolling: Option<Reading>,
    pub(crate) ring: Option<Reading>,
}

impl Evidence {
    pub(crate) fn new(rules: &Rules) -> Self {
        if let ([Rule::Consecutive(limit)], None) = (&*rules.detectors, rules.slow_call) {
            return Self::Consecutive(Streak::new(*limit));
        }
        let mut parts = rules.detectors.iter().map(Part::new);
        let first = parts.next().unwrap_or(Part::Consecutive(Streak::new(u32::MAX)));
        let has_time = rules.detectors.iter().any(|rule| matches!(rule, Rule::Rolling { .. }));
        let starts = rules.slow_call.map(Starts::new);
        Self::Windows(Box::new(Windows { first, others: parts.collect(), starts, has_time }))
    }

    /// Whether a success changes nothing: then it needs no lock.
    pub(crate) fn ignores_success(&self) -> bool {
        matches!(self, Self::Consecutive(Streak { failures: 0, .. }))
    }

    /// Whether the calls in flight must be known.
    pub(crate) fn tracks_starts(&self) -> bool {
        matches!(self, Self::Windows(windows) if windows.starts.is_some())
    }

    /// The windows, where a success goes into them and that is all.
    #[inline]
    pub(crate) fn plain_windows(&mut self) -> Option<&mut Windows> {
        match self {
            Self::Windows(windows) if windows.starts.is_none() => Some(windows),
            _ => None,
        }
    }

    /// Takes in one result. Says whether the breaker must open.
    #[inline]
    pub(crate) fn record(&mut self, failed: bool, now: Moment) -> bool {
        match self {
            Self::Consecutive(streak) => streak.record(failed),
            Self::Windows(windows) => windows.record(failed, || now),
        }
    }

    pub(crate) fn read(&mut self, now: Moment) -> Readings {
        let mut readings = Readings::default();
        match self {
            Self::Consecutive(streak) => readings.consecutive = Some(streak.failures),
            Self::Windows(windows) => {
                windows.parts().for_each(|part| part.read_into(&mut readings, now));
            }
        }
        readings
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Self::Consecutive(streak) => streak.failures = 0,
            Self::Windows(windows) => windows.parts().for_each(Part::reset),
        }
    }

    /// Takes over a count of consecutive failures from before a restart.
    pub(crate) fn restore(&mut self, saved: u32) {
        match self {
            Self::Consecutive(streak) => streak.failures = saved,
            Self::Windows(windows) => {
                for part in windows.parts() {
                    if let Part::Consecutive(streak) = part {
                        streak.failures = saved;
                    }
                }
            }
        }
    }

    /// The calls in flight, where slow ones count.
    pub(crate) fn starts(&mut self) -> Option<&mut Starts> {
        match self {
            Self::Consecutive(_) => None,
            Self::Windows(windows) => windows.starts.as_mut(),
        }
    }
}

impl Windows {
    /// Takes in one result. `now` is asked only if a part looks at it.
    #[inline]
    pub(crate) fn record(&mut self, failed: bool, now: impl FnOnce() -> Moment) -> bool {
        let now = if self.has_time { now() } else { Moment::default() };
        let opens = self.first.record(failed, now);
        // Every part takes the result in, also after one has said "open".
        self.others.iter_mut().fold(opens, |opens, part| part.record(failed, now) | opens)
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut Part> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }
}

impl Part {
    fn new(rule: &Rule) -> Self {
        match *rule {
            Rule::Consecutive(limit) => Self::Consecutive(Streak::new(limit)),
            Rule::Rolling { window, threshold } => Self::Rolling(TimeRing::new(window), threshold),
            Rule::Ring { size, threshold } => Self::Ring(CountRing::new(size), threshold),
        }
    }

    #[inline(always)]
    fn record(&mut self, failed: bool, now: Moment) -> bool {
        match self {
            Self::Consecutive(streak) => streak.record(failed),
            Self::Rolling(ring, threshold) => {
                ring.record(failed, now);
                threshold.is_reached(ring.read(now))
            }
            Self::Ring(ring, threshold) => {
                ring.record(failed);
                threshold.is_reached(ring.read())
            }
        }
    }

    fn read_into(&mut self, readings: &mut Readings, now: Moment) {
        match self {
            Self::Consecutive(streak) => {
                readings.consecutive = readings.consecutive.or(Some(streak.failures));
            }
            Self::Rolling(ring, _) => readings.rolling = readings.rolling.or(Some(ring.read(now))),
            Self::Ring(ring, _) => readings.ring = readings.ring.or(Some(ring.read())),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Consecutive(streak) => streak.failures = 0,
            Self::Rolling(ring, _) => ring.reset(),
            Self::Ring(ring, _) => ring.reset(),
        }
    }
}

impl Streak {
    const fn new(limit: u32) -> Self {
        Self { failures: 0, limit }
    }

    #[inline]
    fn record(&mut self, failed: bool) -> bool {
        self.failures = if failed { self.failures.saturating_add(1) } else { 0 };
        self.failures >= self.limit
    }
}
