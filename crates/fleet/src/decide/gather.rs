//! What a page of findings means for what is recorded of a net.
//!
//! | a finding | means |
//! |---|---|
//! | with a number that is recorded already | nothing: it was told twice |
//! | of another generation than is loaded | nothing: it is stale |
//! | of a check that the net does not have, or that can't be read | nothing |
//! | else | how the check is now |
//!
//! The order is that of the numbers. The agent's clock only tells how long ago something was: what it
//! calls the future is now, nothing was before the net was loaded, and no finding is before the one before.

use std::collections::BTreeMap;
use std::time::Duration;

use mainstay_base::{Id, Timestamp, replace_nul};

use crate::agents::finding::Finding;
use crate::agents::{NetResult, NetResults};
use crate::model::location::{
    CheckKind, Location, LocationStatus, MAX_ERROR, PlannedCheck, compared,
};

/// The most turns that one page leaves in the history; the last ones stay.
pub const MAX_TURNS: usize = 100;
/// The longest time that a check is believed to have taken.
const MAX_LATENCY: Duration = Duration::from_hours(1);

/// Up to where findings are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetCursor {
    /// Of which run of the agent.
    pub boot_id: Id,
    /// Up to which number.
    pub seq: u64,
}

/// What is known when a page arrives.
#[derive(Debug)]
pub struct Known<'a> {
    /// The worker that the net is loaded on.
    pub worker_id: Id,
    /// The generation that is loaded there.
    pub generation: i64,
    /// Since when.
    pub loaded_since: Timestamp,
    /// The checks that the net has.
    pub planned: &'a [PlannedCheck],
    /// What is recorded of them.
    pub locations: Vec<Location>,
    /// Up to where.
    pub cursor: Option<NetCursor>,
    /// The time, by the database's clock.
    pub now: Timestamp,
}

/// What became of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered {
    /// Up to where everything is recorded now.
    pub cursor: NetCursor,
    /// Each check that the page tells of, or that nothing was recorded of yet.
    pub locations: Vec<Location>,
    /// Each time that one of them turned, in order.
    pub turns: Vec<Turn>,
    /// Those that are otherwise now than they were before the page.
    pub changed: Vec<Changed>,
    /// How many findings were recorded or not.
    pub counts: Counts,
}

/// A check turned out otherwise than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Which one.
    pub key: (CheckKind, String),
    /// When.
    pub at: Timestamp,
    /// How it is from then on.
    pub status: LocationStatus,
    /// What was wrong.
    pub error: Option<String>,
}

/// A check that is otherwise than it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The check.
    pub check: PlannedCheck,
    /// How it was.
    pub previous: LocationStatus,
    /// How it is.
    pub current: LocationStatus,
}

/// How many findings were recorded or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Recorded.
    pub recorded: u64,
    /// Told twice.
    pub repeated: u64,
    /// Of another generation.
    pub stale: u64,
    /// Of a check that the net does not have.
    pub foreign: u64,
    /// Of no form that is known.
    pub unreadable: u64,
}

/// What a page means.
#[must_use]
pub fn gather(known: Known<'_>, page: &NetResults) -> Gathered {
    let Known { worker_id, generation, loaded_since, planned, locations, cursor, now } = known;
    let seq = cursor.filter(|one| one.boot_id == page.boot_id).map_or(0, |one| one.seq);
    let mut fold = Fold {
        cursor: NetCursor { boot_id: page.boot_id, seq },
        generation,
        // What the agent calls now is now.
        ahead: page.now.map_or(0, |theirs| theirs.as_millis().saturating_sub(now.as_millis())),
        least: loaded_since.min(now),
        now,
        sites: sites(worker_id, planned, locations, now),
        turns: Vec::new(),
        counts: Counts::default(),
    };
    for result in &page.results {
        fold.take(result);
    }
    fold.end()
}

/// One check while a page is read.
struct Site {
    before: LocationStatus,
    is_touched: bool,
    location: Location,
}

struct Fold {
    cursor: NetCursor,
    generation: i64,
    ahead: i64,
    least: Timestamp,
    now: Timestamp,
    sites: BTreeMap<(CheckKind, String), Site>,
    turns: Vec<Turn>,
    counts: Counts,
}

impl Fold {
    fn take(&mut self, result: &NetResult) {
        if result.seq <= self.cursor.seq {
            self.counts.repeated += 1;
            return;
        }
        self.cursor.seq = result.seq;
        if result.generation != self.generation {
            self.counts.stale += 1;
            return;
        }
        let Ok(finding) = serde_json::from_value::<Finding>(result.result.clone()) else {
            self.counts.unreadable += 1;
            return;
        };
        let key = (finding.kind, compared(&finding.name));
        if finding.status == LocationStatus::Unknown {
            self.counts.unreadable += 1;
        } else if let Some(site) = self.sites.get_mut(&key) {
            let at = at(finding.at, self.ahead, self.least, self.now);
            self.counts.recorded += 1;
            self.turns.extend(site.take(finding, self.generation, at, key));
        } else {
            self.counts.foreign += 1;
        }
    }

    fn end(self) -> Gathered {
        let Self { cursor, sites, mut turns, counts, .. } = self;
        turns.drain(..turns.len().saturating_sub(MAX_TURNS));
        let touched: Vec<Site> = sites.into_values().filter(|site| site.is_touched).collect();
        let changed = touched.iter().filter(|site| site.before != site.location.status);
        let changed = changed.map(|site| Changed {
            check: site.location.check.clone(),
            previous: site.before,
            current: site.location.status,
        });
        let changed = changed.collect();
        let locations = touched.into_iter().map(|site| site.location).collect();
        Gathered { cursor, locations, turns, changed, counts }
    }
}

impl Site {
    fn take(
        &mut self,
        finding: Finding,
        generation: i64,
        at: Timestamp,
        key: (CheckKind, String),
    ) -> Option<Turn> {
        let location = &mut self.location;
        let at = location.checked_at.map_or(at, |last| at.max(last));
        let has_turned = location.status != finding.status;
        let is_well = finding.status == LocationStatus::Healthy;
        self.is_touched = true;
        location.generation = generation;
        location.checked_at = Some(at);
        location.latency = finding.latency_ms.and_then(latency);
        location.error = finding.error.filter(|_| !is_well).as_deref().map(cut);
        location.findings = location.findings.saturating_add(1);
        if !has_turned {
            return None;
        }
        location.status = finding.status;
        location.status_since = at;
        Some(Turn { key, at, status: finding.status, error: location.error.clone() })
    }
}

/// Each check of the net with what is recorded of it; what was recorded on another worker is over.
fn sites(
    worker_id: Id,
    planned: &[PlannedCheck],
    locations: Vec<Location>,
    now: Timestamp,
) -> BTreeMap<(CheckKind, String), Site> {
    let mut recorded: BTreeMap<_, _> = locations
        .into_iter()
        .filter(|location| location.worker_id == worker_id)
        .map(|location| (location.check.key(), location))
        .collect();
    let site = |check: &PlannedCheck| {
        let key = check.key();
        let known = recorded.remove(&key);
        let is_touched = known.as_ref().is_none_or(|known| known.check != *check);
        let location = match known {
            Some(known) => Location { check: check.clone(), ..known },
            None => unseen(worker_id, check, now),
        };
        (key, Site { before: location.status, is_touched, location })
    };
    planned.iter().map(site).collect()
}

fn unseen(worker_id: Id, check: &PlannedCheck, now: Timestamp) -> Location {
    Location {
        check: check.clone(),
        worker_id,
        generation: 0,
        status: LocationStatus::Unknown,
        status_since: now,
        checked_at: None,
        latency: None,
        error: None,
        findings: 0,
    }
}

/// When something was, by the database's clock.
fn at(theirs: Timestamp, ahead: i64, least: Timestamp, now: Timestamp) -> Timestamp {
    let ours = Timestamp::from_millis(theirs.as_millis().saturating_sub(ahead));
    ours.clamp(least, now)
}

fn latency(millis: f64) -> Option<Duration> {
    let taken = Duration::try_from_secs_f64(millis / 1_000.0).ok()?;
    Some(taken.min(MAX_LATENCY))
}

fn cut(text: &str) -> String {
    replace_nul(text).chars().take(MAX_ERROR).collect()
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
