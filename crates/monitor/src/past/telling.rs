//! A span of the past, told in lines: what a report of an incident is written from.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use mainstay_base::{Id, Timestamp};

use super::handle::{Past, PastError};
use super::history::{
    Asked, ChangeKind, HistoryDependency, HistoryItem, HistoryPage, HistoryService, WholeState,
};
use super::moments::Moments;

/// Pages of changes that are read for one telling.
const MOST_PAGES: usize = 10;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub what: String,
    /// Whether it is of a service or a root cause, and not of one of many dependencies.
    pub matters: bool,
}

/// A span of the past in lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// Of which part of the span there are records; `None` when there are none of it.
    pub covered: Option<(Timestamp, Timestamp)>,
    /// What was recorded, oldest first.
    pub lines: Vec<Told>,
}

/// The names of everything, as they change.
#[derive(Default)]
struct Names {
    services: HashMap<Id, String>,
    /// What dependencies go by, as far as that was told.
    canonical: HashMap<Id, String>,
}

impl Past {
    /// What was recorded in a span, oldest first, at most `most` lines: which services and dependencies
    /// were not well when it begins and what all became, and what was the root cause then and when any went bad.
    /// When there is too much, single dependencies are left out first, then what lies between the beginning and
    /// the end; a line says so. Where even reading all of it would be too much, `covered` ends sooner.
    ///
    /// # Errors
    /// [`PastError::Future`], [`PastError::Span`], or when the database fails.
    pub async fn tell(
        &self,
        (from, to): (Timestamp, Timestamp),
        missing_for: Duration,
        most: usize,
    ) -> Result<Telling, PastError> {
        let (mut names, mut told, mut moments) = (Names::default(), Vec::new(), Moments::default());
        let (mut after, mut covered, mut read_until) = (None, None, None);
        for _ in 0..MOST_PAGES {
            let page = self.history(Asked { from, to, after, most: None }).await?;
            covered = covered_by(&page);
            if let Some(state) = &page.state {
                told.extend(names.begin(page.from, state));
                moments.begin(page.from, bad_services(state), bad_dependencies(state));
            }
            for item in &page.items {
                if item.at >= page.from {
                    told.extend(names.line(item));
                    moments.note(item);
                }
            }
            after = page.next_cursor.and_then(|place| place.parse().ok());
            if after.is_none() {
                break;
            }
            read_until = page.items.iter().map(|item| item.at).max().max(read_until);
        }
        if let (Some(_), Some(until), Some((_, end))) = (after, read_until, &mut covered) {
            *end = until.min(*end);
            told.push(unread(*end));
        }
        told.extend(self.roots(moments, missing_for).await?);
        Ok(Telling { covered, lines: fitted(told, most) })
    }
}

impl Names {
    /// What was not well when the span begins.
    fn begin(&mut self, at: Timestamp, state: &WholeState) -> Vec<Told> {
        self.services.extend(state.services.iter().map(|one| (one.id, one.name.clone())));
        let canonical = state.dependencies.iter().map(|one| (one.id, one.canonical_name.clone()));
        self.canonical.extend(canonical);
        let services = bad_services(state).map(|one| {
            let (name, status, since) = (&one.name, one.status.name(), one.status_since);
            Told { at, what: format!("service {name} was {status} since {since}"), matters: true }
        });
        services.chain(self.bad_dependencies(at, state)).collect()
    }

    fn bad_dependencies(&self, at: Timestamp, state: &WholeState) -> Vec<Told> {
        let told = bad_dependencies(state).filter_map(|one| {
            let service = self.services.get(&one.service_id)?;
            let (name, since) = (self.called(Some(one.id), &one.name), one.status_since);
            let what = format!(
                "service {service} said that its dependency {name} was {} since {since}",
                one.status.name()
            );
            Some(Told { at, what, matters: false })
        });
        told.collect()
    }

    fn line(&mut self, item: &HistoryItem) -> Option<Told> {
        let after = item.after.as_deref();
        if item.dependency_id.is_none()
            && matches!(item.kind, ChangeKind::Added | ChangeKind::Renamed)
        {
            self.services.insert(item.service_id, after.unwrap_or_default().to_owned());
        }
        if let (ChangeKind::Alias, Some(id), Some(name)) = (item.kind, item.dependency_id, after) {
            self.canonical.insert(id, name.to_owned());
        }
        let service = self.services.get(&item.service_id).map_or("(unknown)", String::as_str);
        let dependency =
            item.dependency_name.as_deref().map(|name| self.called(item.dependency_id, name));
        let (what, matters) = match (item.kind, dependency, after) {
            (ChangeKind::Service, _, Some(status)) => {
                (format!("service {service} became {status}"), true)
            }
            (ChangeKind::Dependency, Some(name), Some(status)) => {
                (format!("service {service} says that its dependency {name} is {status}"), false)
            }
            (ChangeKind::Added, Some(name), Some(status @ ("down" | "degraded"))) => (
                format!(
                    "service {service} reports the dependency {name} for the first time: it is {status}"
                ),
                false,
            ),
            (ChangeKind::Stale, _, Some("stale")) => (
                format!("service {service} could not be polled: its dependencies are not known"),
                true,
            ),
            (ChangeKind::Stale, ..) => (format!("service {service} could be polled again"), true),
            (ChangeKind::Removed, None, _) => (format!("service {service} was removed"), true),
            (ChangeKind::Missing, Some(name), Some("missing")) => {
                (format!("service {service} does not report its dependency {name} any more"), false)
            }
            _ => return None,
        };
        Some(Told { at: item.at, what, matters })
    }

    /// What a dependency goes by, with what its service calls it where that is another name.
    fn called(&self, dependency: Option<Id>, reported: &str) -> String {
        let canonical = dependency.and_then(|id| self.canonical.get(&id));
        match canonical {
            Some(canonical) if canonical != reported => format!("{canonical} ({reported})"),
            _ => reported.to_owned(),
        }
    }
}

fn bad_services(state: &WholeState) -> impl Iterator<Item = &HistoryService> {
    state.services.iter().filter(|one| one.status.is_unhealthy())
}

/// Those that are still reported, by services that can be polled.
fn bad_dependencies(state: &WholeState) -> impl Iterator<Item = &HistoryDependency> {
    let fresh = state.services.iter().filter(|one| one.stale_since.is_none());
    let fresh: HashSet<Id> = fresh.map(|one| one.id).collect();
    let is_bad = move |one: &&HistoryDependency| {
        let is_told = fresh.contains(&one.service_id) && one.missing_since.is_none();
        one.status.is_unhealthy() && is_told && !one.is_closed
    };
    state.dependencies.iter().filter(is_bad)
}

/// Which part of the span of a page there are records of: what was before is not known.
fn covered_by(page: &HistoryPage) -> Option<(Timestamp, Timestamp)> {
    let since = page.records_since.filter(|since| *since <= page.to)?;
    Some((page.from.max(since), page.to))
}

/// So much changed that the rest of the span was not even read.
fn unread(at: Timestamp) -> Told {
    let what = "so much changed that what came after this is not told".to_owned();
    Told { at, what, matters: true }
}

/// In the order of time, without what matters less where all of it does not fit, and without the middle where
/// that is still too much: how it began and how it ended says most.
fn fitted(mut told: Vec<Told>, most: usize) -> Vec<Told> {
    if told.len() > most {
        leave_out_dependencies(&mut told);
    }
    told.sort_by_key(|one| one.at);
    if told.len() > most {
        leave_out_the_middle(&mut told, most);
    }
    told.truncate(most);
    told
}

fn leave_out_dependencies(told: &mut Vec<Told>) {
    let single = || told.iter().filter(|one| !one.matters);
    let Some(at) = single().map(|one| one.at).min() else { return };
    let what =
        format!("{} changes of single dependencies are left out from here on", single().count());
    told.retain(|one| one.matters);
    told.push(Told { at, what, matters: true });
}

fn leave_out_the_middle(told: &mut Vec<Told>, most: usize) {
    let kept = most.saturating_sub(1);
    let tail = told.len().saturating_sub(kept / 2);
    let middle = kept.saturating_sub(kept / 2)..tail;
    let ends = told.get(middle.clone()).and_then(|some| Some((some.first()?.at, some.last()?.at)));
    let Some((at, until)) = ends else { return };
    let what = format!("{} changes are left out here, until {until}", middle.len());
    told.splice(middle, [Told { at, what, matters: true }]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn told(millis: i64, matters: bool) -> Told {
        Told { at: at(millis), what: millis.to_string(), matters }
    }

    #[test]
    fn what_matters_less_is_left_out_first_and_that_is_told() {
        let all = vec![told(3, true), told(1, false), told(2, true), told(4, false)];
        let whole: Vec<i64> = fitted(all.clone(), 4).iter().map(|one| one.at.as_millis()).collect();
        assert_eq!(whole, [1, 2, 3, 4]);
        let fitted = fitted(all, 3);
        assert_eq!(fitted.len(), 3);
        assert_eq!(fitted[0].what, "2 changes of single dependencies are left out from here on");
        assert_eq!((fitted[1].what.as_str(), fitted[2].what.as_str()), ("2", "3"));
    }

    #[test]
    fn where_too_much_matters_the_beginning_and_the_end_are_told() {
        let all: Vec<Told> = (0..100).rev().map(|millis| told(millis, true)).collect();
        for most in [1, 2, 5, 40, 99] {
            let fitted = fitted(all.clone(), most);
            assert_eq!(fitted.len(), most);
            let (kept, gaps): (Vec<_>, Vec<_>) =
                fitted.iter().partition(|one| one.what.parse::<i64>().is_ok());
            let [gap] = gaps.as_slice() else { panic!("{fitted:?}") };
            let count = 100 - kept.len();
            assert!(gap.what.starts_with(&format!("{count} changes are left out")), "{gap:?}");
            let last = fitted.last().map(|one| one.what.as_str());
            assert!(most < 3 || last == Some("99"), "{last:?} of {most}");
            assert!(fitted.is_sorted_by_key(|one| one.at), "{fitted:?}");
        }
        assert_eq!(fitted(all.clone(), 100).len(), 100);
        assert_eq!(fitted(all, 0), []);
    }
}
