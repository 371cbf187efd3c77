//! What is known of journeys beside their outcome: whether they are still looked at, why a run was skipped,
//! and in which order people see them. Pure.

use std::fmt;
use std::str::FromStr;

use mainstay_base::{BadPlace, Id, Timestamp};

use crate::kept::{JourneyView, RunMark, RunStatus, RunView};
use crate::report::RunOutcome;

/// So many runs in a row that came to nothing say that a journey is not looked at.
const MISSED_RUNS: usize = 3;
/// And so does the time of so many intervals.
const MISSED_INTERVALS: i64 = 3;
/// What the schedule and a runner may take beside.
const LATE_MS: i64 = 5_000;

/// What is needed of a journey to put it in its place.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) touches: Vec<String>,
    pub(crate) is_enabled: bool,
    pub(crate) outcome: Option<RunOutcome>,
    pub(crate) failed_message: Option<String>,
}

/// What the runs of a journey say that its strip may be too short for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Past {
    /// When the last run ended that said something about the journey.
    pub(crate) judged_at: Option<Timestamp>,
    /// When the oldest run was due or asked for.
    pub(crate) first_at: Option<Timestamp>,
}

/// Where a page of the list begins: behind this journey, which stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    rank: u8,
    id: Id,
}

impl Entry {
    /// The failing ones first, then those without a run, those that pass, and those that are off.
    fn place(&self) -> Place {
        let rank = match (self.is_enabled, self.outcome) {
            (true, Some(RunOutcome::Failed)) => 0,
            (true, None) => 1,
            (true, Some(RunOutcome::Passed)) => 2,
            (false, _) => 3,
        };
        Place { rank, id: self.id }
    }

    fn word(&self) -> &'static str {
        match self.outcome {
            None => "never run",
            Some(RunOutcome::Passed) => "passing",
            Some(RunOutcome::Failed) => "failing",
        }
    }

    /// Whether every word of a search stands in what people see of it, in any case.
    fn fits(&self, words: &[String]) -> bool {
        let off = if self.is_enabled { "" } else { "off" };
        let message = self.failed_message.as_deref().unwrap_or_default();
        let text = format!("{}\n{}\n{off}\n{message}", self.name, self.word());
        let text = format!("{text}\n{}", self.touches.join("\n")).to_lowercase();
        words.iter().all(|word| text.contains(word))
    }
}

impl Place {
    /// The newest first among those of one rank.
    fn key(self) -> (u8, std::cmp::Reverse<Id>) {
        (self.rank, std::cmp::Reverse(self.id))
    }
}

/// As it stands in a cursor.
impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.rank, self.id)
    }
}

impl FromStr for Place {
    type Err = BadPlace;

    fn from_str(text: &str) -> Result<Self, BadPlace> {
        let (rank, id) = text.split_once('.').ok_or(BadPlace)?;
        let (rank, id) = (rank.parse().map_err(|_| BadPlace)?, id.parse().map_err(|_| BadPlace)?);
        Ok(Self { rank, id })
    }
}

/// The journeys of one page, and where the next one begins.
pub(crate) fn page(
    entries: &[Entry],
    search: &str,
    after: Option<Place>,
    limit: usize,
) -> (Vec<Id>, Option<Place>) {
    let words: Vec<String> = search.to_lowercase().split_whitespace().map(str::to_owned).collect();
    let fitting = entries.iter().filter(|entry| entry.fits(&words)).map(Entry::place);
    let mut places: Vec<Place> =
        fitting.filter(|place| after.is_none_or(|after| place.key() > after.key())).collect();
    places.sort_by_key(|place| place.key());
    let has_more = places.len() > limit;
    places.truncate(limit);
    let next = places.last().copied().filter(|_| has_more);
    (places.into_iter().map(|place| place.id).collect(), next)
}

/// Since when nothing is known of a journey that should run, once that is too long: `outcome` is what it was
/// then.
pub(crate) fn not_run_since(
    journey: &JourneyView,
    past: Past,
    now: Timestamp,
) -> Option<Timestamp> {
    let every = journey.every_ms.filter(|_| journey.is_enabled)?;
    let last = past.judged_at.or(past.first_at)?;
    let is_missed = |mark: &&RunMark| {
        came_to_nothing(mark) && past.judged_at.is_none_or(|judged| mark.at >= judged)
    };
    let missed = journey.strip.iter().filter(is_missed).count();
    // What was edited or switched on just now had no time to run.
    let from = last.as_millis().max(journey.updated_at.as_millis());
    let quiet = now.as_millis().saturating_sub(from);
    let longest = every.saturating_mul(MISSED_INTERVALS).saturating_add(LATE_MS);
    (missed >= MISSED_RUNS || quiet > longest).then_some(last)
}

fn came_to_nothing(mark: &RunMark) -> bool {
    matches!(mark.status, RunStatus::Skipped | RunStatus::Aborted)
}

/// What becomes of a failure that people are shown: only that of a journey that is switched on is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It fails from now on.
    Fails,
    /// It does no more, or nobody looks after it.
    Ends,
}

/// What is to be told of a journey, by whether it is switched on and how it is, before and now: whoever hears
/// all of it knows which journeys are failing.
pub(crate) fn turn(
    before: (bool, Option<RunOutcome>),
    now: (bool, Option<RunOutcome>),
) -> Option<Turn> {
    let fails = |is| is == (true, Some(RunOutcome::Failed));
    match (fails(before), fails(now)) {
        (false, true) => Some(Turn::Fails),
        (true, false) => Some(Turn::Ends),
        _ => None,
    }
}

/// What a run says that was skipped because of this one.
pub(crate) fn skipped(before: Option<&RunView>, now: Timestamp) -> String {
    let seconds =
        |since: Timestamp| now.as_millis().saturating_sub(since.as_millis()).max(0) / 1_000;
    let why = match before.map(|run| (run.status, run.started_at, run.created_at)) {
        Some((RunStatus::Running, Some(since), _)) => format!(
            "it is under way for {} s. If that is its usual time, give the journey a longer interval; if \
             the Mainstay that ran it died, it is given up within half a minute",
            seconds(since)
        ),
        Some((RunStatus::Queued, _, since)) => format!(
            "it waits for a runner for {} s. See that background jobs are run and not paused",
            seconds(since)
        ),
        _ => "look at it".to_owned(),
    };
    format!("the run before it had not ended: {why}")
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
