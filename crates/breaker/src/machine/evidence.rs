//! What speaks against the downstream while the breaker is closed.

use super::count_ring::CountRing;
use super::rules::Rule;
use super::starts::Starts;
use super::time_ring::TimeRing;
use super::{Reading, Rules};
use crate::moment::Moment;

/// The results that the detector has seen since it was last reset. The common case, a count of
/// consecutive failures, needs no memory of its own.
#[derive(Debug)]
pub(crate) enum Evidence {
    Consecutive(u32),
    Windows(Box<Windows>),
}

/// One part for each rule, in the same order.
#[derive(Debug)]
pub(crate) struct Windows {
    /// Most detectors have one part: it needs no detour.
    first: Part,
    others: Box<[Part]>,
    starts: Option<Starts>,
}

#[derive(Debug)]
enum Part {
    Consecutive(u32),
    Rolling(TimeRing),
    Ring(CountRing),
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
        if rules.only_consecutive().is_some() {
            return Self::Consecutive(0);
        }
        let first = rules.detectors.first().map_or(Part::Consecutive(0), Part::new);
        let others = rules.detectors.iter().skip(1).map(Part::new).collect();
        let starts = rules.slow_call.map(Starts::new);
        Self::Windows(Box::new(Windows { first, others, starts }))
    }

    /// Whether a success changes nothing: then it needs no lock.
    pub(crate) fn ignores_success(&self) -> bool {
        matches!(self, Self::Consecutive(0))
    }

    /// Whether the calls in flight must be known.
    pub(crate) fn tracks_starts(&self) -> bool {
        matches!(self, Self::Windows(windows) if windows.starts.is_some())
    }

    /// Whether a success goes into a window and that is all.
    #[inline]
    pub(crate) fn is_plain_window(&self) -> bool {
        matches!(self, Self::Windows(windows) if windows.starts.is_none())
    }

    /// Takes in one result. Says whether the breaker must open.
    #[inline]
    pub(crate) fn record(&mut self, failed: bool, now: Moment, rules: &Rules) -> bool {
        match self {
            Self::Consecutive(failures) => {
                count_on(failures, failed);
                rules.only_consecutive().is_some_and(|limit| *failures >= limit)
            }
            Self::Windows(windows) => windows.record(failed, now, rules),
        }
    }

    pub(crate) fn read(&mut self, now: Moment) -> Readings {
        let mut readings = Readings::default();
        match self {
            Self::Consecutive(failures) => readings.consecutive = Some(*failures),
            Self::Windows(windows) => {
                windows.parts().for_each(|part| part.read_into(&mut readings, now));
            }
        }
        readings
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Self::Consecutive(failures) => *failures = 0,
            Self::Windows(windows) => windows.parts().for_each(Part::reset),
        }
    }

    /// Takes over a count of consecutive failures from before a restart.
    pub(crate) fn restore(&mut self, saved: u32) {
        match self {
            Self::Consecutive(failures) => *failures = saved,
            Self::Windows(windows) => {
                for part in windows.parts() {
                    if let Part::Consecutive(failures) = part {
                        *failures = saved;
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
    #[inline]
    fn record(&mut self, failed: bool, now: Moment, rules: &Rules) -> bool {
        let Some((rule, other_rules)) = rules.detectors.split_first() else { return false };
        let opens = self.first.record(failed, now, rule);
        let others = self.others.iter_mut().zip(other_rules);
        // Every part takes the result in, also after one has said "open".
        others.fold(opens, |opens, (part, rule)| part.record(failed, now, rule) | opens)
    }

    fn parts(&mut self) -> impl Iterator<Item = &mut Part> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }
}

impl Part {
    fn new(rule: &Rule) -> Self {
        match *rule {
            Rule::Consecutive(_) => Self::Consecutive(0),
            Rule::Rolling { window, .. } => Self::Rolling(TimeRing::new(window)),
            Rule::Ring { size, .. } => Self::Ring(CountRing::new(size)),
        }
    }

    #[inline(always)]
    fn record(&mut self, failed: bool, now: Moment, rule: &Rule) -> bool {
        match (self, rule) {
            (Self::Consecutive(failures), Rule::Consecutive(limit)) => {
                count_on(failures, failed);
                *failures >= *limit
            }
            (Self::Rolling(ring), Rule::Rolling { threshold, .. }) => {
                ring.record(failed, now);
                threshold.is_reached(ring.read(now))
            }
            (Self::Ring(ring), Rule::Ring { threshold, .. }) => {
                ring.record(failed);
                threshold.is_reached(ring.read())
            }
            // Parts are made from the rules, in their order.
            _ => false,
        }
    }

    fn read_into(&mut self, readings: &mut Readings, now: Moment) {
        match self {
            Self::Consecutive(failures) => {
                readings.consecutive = readings.consecutive.or(Some(*failures));
            }
            Self::Rolling(ring) => readings.rolling = readings.rolling.or(Some(ring.read(now))),
            Self::Ring(ring) => readings.ring = readings.ring.or(Some(ring.read())),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Consecutive(failures) => *failures = 0,
            Self::Rolling(ring) => ring.reset(),
            Self::Ring(ring) => ring.reset(),
        }
    }
}

#[inline]
fn count_on(failures: &mut u32, failed: bool) {
    *failures = if failed { failures.saturating_add(1) } else { 0 };
}
