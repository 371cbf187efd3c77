//! A span of the past, told in lines: what a report of an incident is written from.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_graph::causes;

use super::handle::{Past, PastError};
use super::history::{Asked, ChangeKind, HistoryItem, WholeState};
use super::state::PastMoment;
use crate::aside::aside;
use crate::graph::then;
use crate::status::ServiceStatus;

/// Pages of changes that are read for one telling.
const MOST_PAGES: usize = 10;
/// Moments at which root causes are looked for: each is a whole state.
const MOST_MOMENTS: usize = 6;
/// Root causes that are named at one moment.
const MOST_ROOTS: usize = 5;

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

/// The names of everything, as they change.
#[derive(Default)]
struct Names {
    services: HashMap<Id, String>,
    /// What dependencies go by, as far as that was told.
    canonical: HashMap<Id, String>,
}

impl Past {
    /// What was recorded in a span, oldest first, at most `most` lines: how services and dependencies
    /// were when it begins and what they became, and what was the root cause when services went bad.
    /// When there is too much, single dependencies are left out first.
    ///
    /// # Errors
    /// [`PastError::Future`], [`PastError::Span`], or when the database fails.
    pub async fn tell(
        &self,
        (from, to): (Timestamp, Timestamp),
        missing_for: Duration,
        most: usize,
    ) -> Result<Vec<Told>, PastError> {
        let (mut names, mut told, mut went_bad) = (Names::default(), Vec::new(), Vec::new());
        let mut after = None;
        for _ in 0..MOST_PAGES {
            let page = self.history(Asked { from, to, after }).await?;
            if let Some(state) = &page.state {
                told.extend(names.begin(page.from, state));
            }
            for item in &page.items {
                if item.at >= page.from {
                    told.extend(names.line(item));
                    went_bad.extend(is_bad_news(item).then_some(item.at));
                }
            }
            after = page.next_cursor.and_then(|place| place.parse().ok());
            if after.is_none() {
                break;
            }
        }
        told.extend(self.roots(went_bad, missing_for).await?);
        Ok(fitted(told, most))
    }

    /// The root causes at some of the moments, told where they differ from those before.
    async fn roots(
        &self,
        mut moments: Vec<Timestamp>,
        missing_for: Duration,
    ) -> Result<Vec<Told>, PastError> {
        moments.sort_unstable();
        moments.dedup();
        let (mut told, mut before) = (Vec::new(), Vec::new());
        for at in spread(&moments, MOST_MOMENTS) {
            let moment = self.at(at).await?;
            let roots = aside(move || named_roots(&moment, missing_for)).await?;
            if roots != before && !roots.is_empty() {
                let word = if roots.len() == 1 { "root cause" } else { "root causes" };
                let what = format!("{word} then: {}", roots.join(", "));
                told.push(Told { at, what, matters: true });
            }
            before = roots;
        }
        Ok(told)
    }
}

impl Names {
    /// What was not well when the span begins.
    fn begin(&mut self, at: Timestamp, state: &WholeState) -> Vec<Told> {
        self.services.extend(state.services.iter().map(|one| (one.id, one.name.clone())));
        let canonical = state.dependencies.iter().map(|one| (one.id, one.canonical_name.clone()));
        self.canonical.extend(canonical);
        let bad = state
            .services
            .iter()
            .filter(|one| !matches!(one.status, ServiceStatus::Healthy | ServiceStatus::Unknown));
        bad.map(|one| {
            let (name, status, since) = (&one.name, one.status.name(), one.status_since);
            Told { at, what: format!("service {name} was {status} since {since}"), matters: true }
        })
        .collect()
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
        let dependency = item.dependency_name.as_deref().map(|name| self.called(item, name));
        let (what, matters) = match (item.kind, dependency, after) {
            (ChangeKind::Service, _, Some(status)) => {
                (format!("service {service} became {status}"), true)
            }
            (ChangeKind::Dependency, Some(name), Some(status)) => {
                (format!("service {service} says that its dependency {name} is {status}"), false)
            }
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
    fn called(&self, item: &HistoryItem, reported: &str) -> String {
        let canonical = item.dependency_id.and_then(|id| self.canonical.get(&id));
        match canonical {
            Some(canonical) if canonical != reported => format!("{canonical} ({reported})"),
            _ => reported.to_owned(),
        }
    }
}

fn is_bad_news(item: &HistoryItem) -> bool {
    item.kind == ChangeKind::Service && matches!(item.after.as_deref(), Some("down" | "degraded"))
}

/// At most so many of the moments, the first and the last among them.
fn spread(moments: &[Timestamp], most: usize) -> Vec<Timestamp> {
    if moments.len() <= most {
        return moments.to_vec();
    }
    let last = moments.len().saturating_sub(1);
    let steps = most.saturating_sub(1).max(1);
    let places = (0..most).filter_map(|step| moments.get(step.saturating_mul(last) / steps));
    places.copied().collect()
}

fn named_roots(moment: &PastMoment, missing_for: Duration) -> Vec<String> {
    let snapshot = then::graph(moment, missing_for).snapshot();
    let name = |place: usize| snapshot.node(place).map(|node| node.name.to_string());
    let roots = causes::find(&snapshot).roots;
    let named = roots.iter().take(MOST_ROOTS).map(|root| {
        let members: Vec<String> = root.members.iter().filter_map(|&place| name(place)).collect();
        let services = if root.hurts == 1 { "service" } else { "services" };
        format!("{} (hurts {} {services})", members.join(" and "), root.hurts)
    });
    named.collect()
}

/// In the order of time, without what matters less where all of it does not fit.
fn fitted(mut told: Vec<Told>, most: usize) -> Vec<Told> {
    if told.len() > most {
        let mut left_out = BTreeMap::<Timestamp, usize>::new();
        told.retain(|one| {
            if !one.matters {
                *left_out.entry(one.at).or_default() += 1;
            }
            one.matters
        });
        if let (Some((&at, _)), count) =
            (left_out.first_key_value(), left_out.values().sum::<usize>())
        {
            let what = format!("{count} changes of single dependencies are left out from here on");
            told.push(Told { at, what, matters: true });
        }
    }
    told.sort_by_key(|one| one.at);
    told.truncate(most);
    told
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
    fn moments_are_spread_from_the_first_to_the_last() {
        let many: Vec<Timestamp> = (0..100).map(at).collect();
        let few = spread(&many, 6);
        assert_eq!((few.len(), few[0], few[5]), (6, at(0), at(99)));
        assert_eq!(spread(&many[..3], 6), many[..3]);
        assert_eq!(spread(&[], 6), Vec::<Timestamp>::new());
    }
}
