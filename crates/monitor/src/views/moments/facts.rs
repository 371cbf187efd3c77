//! Changes as facts of what they are about: many who report one thing tell one fact. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};

use mainstay_base::{Id, Timestamp};
use mainstay_graph::Status;

use super::around::{Around, NodeNow};
use crate::graph::view::GraphNodeKind;
use crate::names::compared;
use crate::views::activity::ActivityItem;
use crate::views::holding::Holding;

/// Something became something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fact {
    pub(super) number: i64,
    pub(super) at: Timestamp,
    /// `None` when it was not known of.
    pub(super) before: Option<Status>,
    pub(super) after: Status,
}

/// What changes are about: a service, or what services lean on.
#[derive(Debug, Default)]
pub(super) struct Subject {
    pub(super) name: String,
    /// The service that it is, as far as changes of it tell.
    pub(super) service: Option<Id>,
    /// What its own polls tell.
    pub(super) own: Vec<Fact>,
    /// What all of those say together who lean on it.
    pub(super) reported: Vec<Fact>,
    /// What it leans on, as far as changes tell.
    pub(super) leans_on: HashSet<String>,
}

/// Who reports what, and when.
struct Report {
    reporter: (Id, Option<Id>),
    fact: Fact,
}

/// The names of all that changes are about, as they are compared.
pub(super) fn keys(changes: &[ActivityItem]) -> HashSet<String> {
    let of = |change: &ActivityItem| [compared(&change.service_name), compared(meant(change))];
    changes.iter().flat_map(of).collect()
}

/// What changes tell of each that they are about, by its name as it is compared.
pub(super) fn subjects(changes: &[ActivityItem], around: &Around) -> BTreeMap<String, Subject> {
    let mut in_order: Vec<&ActivityItem> = changes.iter().collect();
    in_order.sort_by_key(|change| (change.at, change.id));
    let mut subjects: BTreeMap<String, Subject> = BTreeMap::new();
    let mut reports: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    let mut holding = Holding::default();
    for change in in_order {
        let Some(fact) = fact(change) else { continue };
        if !holding.hears((change.service_id, change.dependency_id), change.id) {
            continue;
        }
        let service = subjects.entry(compared(&change.service_name)).or_default();
        service.name.clone_from(&change.service_name);
        service.service = Some(change.service_id);
        if change.dependency_name.is_none() {
            service.own.push(fact);
            continue;
        }
        let key = compared(meant(change));
        service.leans_on.insert(key.clone());
        let thing = subjects.entry(key.clone()).or_default();
        // A service is called as it calls itself, whatever those say who lean on it.
        if thing.service.is_none() {
            meant(change).clone_into(&mut thing.name);
        }
        let reporter = (change.service_id, change.dependency_id);
        reports.entry(key).or_default().push(Report { reporter, fact });
    }
    for (key, reports) in reports {
        let Some(subject) = subjects.get_mut(&key) else { continue };
        let told = together(&reports, around.get(&key));
        subject.reported =
            told.into_iter().filter(|fact| counts(fact, subject, around.get(&key))).collect();
    }
    subjects
}

/// What a change is about, by its canonical name.
fn meant(change: &ActivityItem) -> &str {
    let dependency = change.canonical_name.as_ref().or(change.dependency_name.as_ref());
    dependency.unwrap_or(&change.service_name)
}

fn fact(change: &ActivityItem) -> Option<Fact> {
    let status = |name: &Option<String>| name.as_deref().and_then(Status::from_name);
    let (before, after) = (status(&change.previous), status(&change.current)?);
    Some(Fact { number: change.id, at: change.at, before, after })
}

/// What all who report a thing say together: as in the graph, the worst of it. Who did not change says
/// what it says now.
fn together(reports: &[Report], now: Option<&NodeNow>) -> Vec<Fact> {
    let mut said: HashMap<(Id, Option<Id>), Option<Status>> = HashMap::new();
    for Report { reporter, fact } in reports {
        said.entry(*reporter).or_insert(fact.before);
    }
    let changed: HashSet<Id> = said.keys().map(|(service, _)| *service).collect();
    let others = now.into_iter().flat_map(|now| &now.said);
    let others = others.filter(|(service, _)| !changed.contains(service));
    let others = others.map(|(_, status)| *status).max();
    let worst =
        |said: &HashMap<_, Option<Status>>| said.values().flatten().copied().chain(others).max();
    let mut facts = Vec::new();
    for Report { reporter, fact } in reports {
        let before = worst(&said);
        said.insert(*reporter, Some(fact.after));
        let Some(after) = worst(&said) else { continue };
        if before != Some(after) {
            facts.push(Fact { before, after, ..*fact });
        }
    }
    facts
}

/// What others say of a service counts only while its own polls find it well.
fn counts(fact: &Fact, subject: &Subject, now: Option<&NodeNow>) -> bool {
    let last = subject.own.iter().rev().find(|own| own.at <= fact.at).map(|own| own.after);
    let next = || subject.own.iter().find(|own| own.at > fact.at).and_then(|own| own.before);
    let of_service = || now.filter(|now| now.kind == GraphNodeKind::Service).map(|now| now.status);
    let own = last.or_else(next).or_else(of_service);
    own.is_none_or(|own| own == Status::Healthy)
}
