//! What a result changes of what is recorded. Pure.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};

use crate::failure::PollFailure;
use crate::formats::bounds::MAX_ITEMS;
use crate::known::{Known, KnownDependency, MOST_KEPT, Trouble, facts_of, is_sound};
use crate::report::{DependencyStatus, Report, Reported};
use crate::sink::{PollResult, PollSummary, StatusChange};
use crate::status::ServiceStatus;

/// The most dependencies that make room in one go: as many as one answer can name anew, and as many
/// again of those that were kept before there was a bound.
const MOST_FORGOTTEN: usize = 2 * MAX_ITEMS;

/// What a result changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) at: Timestamp,
    pub(crate) poll_seq: i64,
    /// When the next poll is planned.
    pub(crate) next_poll_at: Timestamp,
    /// That nobody had polled the service for a while, if nobody has noted it.
    pub(crate) lapse: Option<Lapse>,
    /// The service's status before and after, with since when it has it.
    pub(crate) status: Turn<ServiceStatus>,
    pub(crate) status_since: Timestamp,
    /// Since when the service fails without a break, however badly.
    pub(crate) failing_since: Option<Timestamp>,
    /// Why the poll failed.
    pub(crate) failure: Option<PollFailure>,
    /// Whether the poll before failed.
    pub(crate) was_failing: bool,
    /// Whether the poll history has a new line: another failure than before, or a recovery.
    pub(crate) is_turn: bool,
    pub(crate) stale_since: Turn<Option<Timestamp>>,
    pub(crate) warnings: Turn<Option<String>>,
    /// Dependencies that are new or changed.
    pub(crate) touched: Vec<Touched>,
    /// Dependencies that a successful poll no longer reports.
    pub(crate) vanished: Vec<Vanished>,
    /// How many of those that are missing longest have to make room.
    pub(crate) excess: usize,
    /// The names of those that made room, once they have.
    pub(crate) forgotten: Vec<Box<str>>,
    /// How many dependencies have each status; `None` leaves them as they are.
    pub(crate) counts: Option<Counts>,
    /// The latencies that were reported, by slot.
    pub(crate) points: Vec<(u32, Duration)>,
    pub(crate) next_slot: u32,
    /// How many dependencies the answer named.
    pub(crate) reported: usize,
}

/// A time in which nobody polled a service as planned: nothing is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lapse {
    pub(crate) since: Timestamp,
    /// What the service was until then.
    pub(crate) before: ServiceStatus,
    /// Whether its dependencies were not known already.
    pub(crate) was_stale: bool,
}

/// Something before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn<T> {
    pub(crate) before: T,
    pub(crate) after: T,
}

/// A dependency that is new or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Where it stands in the report.
    pub(crate) index: usize,
    pub(crate) name: Box<str>,
    pub(crate) known: KnownDependency,
    /// What it was; `None` for a new one.
    pub(crate) previous: Option<Previous>,
    /// What the error history gets: what is wrong now, or `None` for a recovery.
    pub(crate) noted: Option<Option<Trouble>>,
}

/// What a dependency was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Previous {
    pub(crate) status: DependencyStatus,
    pub(crate) sound: bool,
    pub(crate) missing: bool,
}

/// A dependency that is no longer reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vanished {
    pub(crate) name: Box<str>,
    pub(crate) id: Id,
    pub(crate) number: Option<i64>,
}

/// How many dependencies have each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub(crate) healthy: i64,
    pub(crate) degraded: i64,
    pub(crate) down: i64,
    pub(crate) skipped: i64,
}

/// What `result` changes of what is `known`.
pub(crate) fn judge(known: &Known, result: &PollResult, new_id: &dyn Fn() -> Id) -> Ruling {
    let Some(lapse) = Lapse::of(known, result) else { return compared(known, result, new_id) };
    let known = &Known {
        status: ServiceStatus::Unknown,
        status_since: lapse.since,
        failing_since: None,
        stale_since: known.stale_since.or(Some(lapse.since)),
        ..known.clone()
    };
    Ruling { lapse: Some(lapse), ..compared(known, result, new_id) }
}

fn compared(known: &Known, result: &PollResult, new_id: &dyn Fn() -> Id) -> Ruling {
    match &result.outcome {
        Ok(report) => judge_answer(known, result, report, new_id),
        Err(failure) => judge_failure(known, result, failure),
    }
}

fn judge_failure(known: &Known, result: &PollResult, failure: &PollFailure) -> Ruling {
    let stale_since = Some(known.stale_since.unwrap_or(result.at));
    Ruling {
        failure: Some(failure.clone()),
        is_turn: known.failure.as_ref() != Some(failure),
        stale_since: Turn { before: known.stale_since, after: stale_since },
        warnings: Turn { before: known.warnings.clone(), after: None },
        ..unchanged(known, result, ServiceStatus::Down)
    }
}

fn judge_answer(
    known: &Known,
    result: &PollResult,
    report: &Report,
    new_id: &dyn Fn() -> Id,
) -> Ruling {
    let status = ServiceStatus::of_answer(report.dependencies.iter().map(Reported::status));
    let mut ruling = Ruling {
        is_turn: known.failure.is_some(),
        stale_since: Turn { before: known.stale_since, after: None },
        counts: Some(counts_of(report)),
        vanished: vanished(known, report),
        reported: report.dependencies.len(),
        ..unchanged(known, result, status)
    };
    for (index, reported) in report.dependencies.iter().enumerate() {
        let slot = match known.dependencies.get(reported.name.as_str()) {
            Some(before) => {
                ruling.touched.extend(compare(index, reported, before));
                before.slot
            }
            None => {
                let slot = ruling.next_slot;
                ruling.next_slot = slot.saturating_add(1);
                ruling.touched.push(first_seen(index, reported, new_id(), slot));
                slot
            }
        };
        if !reported.latency.is_zero() {
            ruling.points.push((slot, reported.latency));
        }
    }
    let kept = known.kept.saturating_add(ruling.first_seen());
    ruling.excess = kept.saturating_sub(MOST_KEPT).min(MOST_FORGOTTEN);
    ruling.warnings.after = warnings_of(report, ruling.excess);
    ruling
}

/// The ruling of a result that changes nothing but the status.
fn unchanged(known: &Known, result: &PollResult, status: ServiceStatus) -> Ruling {
    let since = if known.status == status { known.status_since } else { result.at };
    Ruling {
        at: result.at,
        poll_seq: result.settlement.poll_seq,
        next_poll_at: result.at.plus(result.settlement.due_in),
        lapse: None,
        status: Turn { before: known.status, after: status },
        status_since: since,
        failing_since: status.is_unhealthy().then(|| known.failing_since.unwrap_or(result.at)),
        failure: None,
        was_failing: known.failure.is_some(),
        is_turn: false,
        stale_since: Turn { before: known.stale_since, after: known.stale_since },
        warnings: Turn { before: known.warnings.clone(), after: known.warnings.clone() },
        touched: Vec::new(),
        vanished: Vec::new(),
        excess: 0,
        forgotten: Vec::new(),
        counts: None,
        points: Vec::new(),
        next_slot: known.next_slot,
        reported: 0,
    }
}

fn first_seen(index: usize, reported: &Reported, id: Id, slot: u32) -> Touched {
    let now = now_known(reported, id, None, slot);
    let noted = trouble_of(reported).map(Some);
    Touched { index, name: reported.name.as_str().into(), known: now, previous: None, noted }
}

/// What is new about a dependency that is known, if anything.
fn compare(index: usize, reported: &Reported, before: &KnownDependency) -> Option<Touched> {
    let now = now_known(reported, before.id, before.number, before.slot);
    if now.facts == before.facts && !before.missing {
        return None;
    }
    let noted = match (before.trouble, now.trouble) {
        (Some(_), None) => Some(None),
        (before, Some(now)) if before != Some(now) => Some(trouble_of(reported)),
        _ => None,
    };
    let previous = Previous { status: before.status, sound: before.sound, missing: before.missing };
    let name = reported.name.as_str().into();
    Some(Touched { index, name, known: now, previous: Some(previous), noted })
}

fn now_known(reported: &Reported, id: Id, number: Option<i64>, slot: u32) -> KnownDependency {
    let status = reported.status();
    let sound = is_sound(reported.healthy, status);
    KnownDependency {
        id,
        number,
        slot,
        status,
        sound,
        facts: facts_of(reported),
        trouble: trouble_of(reported).as_ref().map(Trouble::fingerprint),
        missing: false,
    }
}

fn trouble_of(reported: &Reported) -> Option<Trouble> {
    let status = reported.status();
    let sound = is_sound(reported.healthy, status);
    Trouble::with(sound, status, reported.error.as_deref(), reported.error_message.as_deref())
}

fn vanished(known: &Known, report: &Report) -> Vec<Vanished> {
    // Mostly an answer names just what is known: then there is nothing to look for.
    let present = known.dependencies.values().filter(|one| !one.missing).count();
    let still = report.dependencies.iter().filter(|one| {
        known.dependencies.get(one.name.as_str()).is_some_and(|before| !before.missing)
    });
    if still.count() == present {
        return Vec::new();
    }
    let names: std::collections::HashSet<&str> =
        report.dependencies.iter().map(|one| one.name.as_str()).collect();
    let mut gone: Vec<_> = known
        .dependencies
        .iter()
        .filter(|(name, one)| !one.missing && !names.contains(&***name))
        .map(|(name, one)| Vanished { name: name.clone(), id: one.id, number: one.number })
        .collect();
    gone.sort_by(|one, other| one.name.cmp(&other.name));
    gone
}

fn counts_of(report: &Report) -> Counts {
    let mut counts = Counts::default();
    for reported in &report.dependencies {
        let count = match reported.status() {
            DependencyStatus::Healthy => &mut counts.healthy,
            DependencyStatus::Degraded => &mut counts.degraded,
            DependencyStatus::Down => &mut counts.down,
            DependencyStatus::Skipped => &mut counts.skipped,
            DependencyStatus::Unknown => continue,
        };
        *count = count.saturating_add(1);
    }
    counts
}

fn warnings_of(report: &Report, excess: usize) -> Option<String> {
    let mut warnings: Vec<_> = report.warnings.iter().map(ToString::to_string).collect();
    if excess > 0 {
        warnings.push(format!(
            "no more than {MOST_KEPT} names of one service are kept: those that are missing longest \
             were forgotten; give things names that stay the same"
        ));
    }
    (!warnings.is_empty()).then(|| serde_json::Value::from(warnings).to_string())
}

impl Ruling {
    /// What people are told of the poll.
    pub(crate) fn summary(&self) -> PollSummary {
        let changes = self.touched.iter().filter(|one| one.has_turned());
        PollSummary {
            dependencies: self.reported,
            status_changes: changes
                .map(|one| StatusChange {
                    dependency_name: one.name.to_string(),
                    previous: one.previous.map(|previous| previous.status),
                    current: one.known.status,
                })
                .collect(),
            status: Some(self.status.after),
        }
    }

    /// How many dependencies it names for the first time.
    fn first_seen(&self) -> usize {
        self.touched.iter().filter(|one| one.previous.is_none()).count()
    }

    /// Brings what is known up to what was just recorded.
    pub(crate) fn apply(self, known: &mut Known) {
        let kept = known.kept.saturating_add(self.first_seen());
        known.kept = kept.saturating_sub(self.forgotten.len());
        for name in &self.forgotten {
            known.dependencies.remove(name);
        }
        known.poll_seq = self.poll_seq;
        known.status = self.status.after;
        known.status_since = self.status_since;
        known.failing_since = self.failing_since;
        known.failure = self.failure;
        known.stale_since = self.stale_since.after;
        known.next_poll_at = Some(self.next_poll_at);
        known.warnings = self.warnings.after;
        known.next_slot = self.next_slot;
        for one in self.touched {
            known.dependencies.insert(one.name, one.known);
        }
        for one in self.vanished {
            if let Some(gone) = known.dependencies.get_mut(&one.name) {
                gone.missing = true;
            }
        }
    }
}

impl Lapse {
    /// As it is noted of services that are not polled any more: from the third missed poll on.
    fn of(known: &Known, result: &PollResult) -> Option<Self> {
        let planned = known.next_poll_at.filter(|_| known.status != ServiceStatus::Unknown)?;
        let overdue_at = planned.plus(result.watch.interval.saturating_mul(2));
        let since = overdue_at.max(known.status_since);
        let was_stale = known.stale_since.is_some();
        (since < result.at).then_some(Self { since, before: known.status, was_stale })
    }
}

impl Touched {
    /// Whether its status is another one than before; a new one that is fine tells nothing.
    pub(crate) fn has_turned(&self) -> bool {
        match self.previous {
            Some(previous) => previous.status != self.known.status,
            None => !self.known.sound || self.known.status == DependencyStatus::Degraded,
        }
    }
}

impl<T: PartialEq> Turn<T> {
    pub(crate) fn has_turned(&self) -> bool {
        self.before != self.after
    }
}

#[cfg(test)]
mod tests;
