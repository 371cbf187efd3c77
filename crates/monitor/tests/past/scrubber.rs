//! Whoever goes to and fro in a span: by the state at its begin and what changed, as the guide says.

use std::collections::BTreeMap;

use mainstay_base::{Id, Timestamp};
use mainstay_monitor::past::history::{ChangeKind, HistoryDependency, HistoryService, WholeState};
use mainstay_monitor::past::{Asked, HistoryItem, PastState};
use mainstay_monitor::{DependencyStatus, ServiceStatus};

use crate::house::House;

/// A span as it was answered, all pages together.
pub(crate) struct Span {
    state: WholeState,
    items: Vec<HistoryItem>,
}

impl House {
    pub(crate) async fn span(&self, from: Timestamp, to: Timestamp) -> Span {
        let mut asked = Asked { from, to, after: None, most: None };
        let first = self.past.history(asked).await.unwrap();
        let (state, mut items, mut next) = (first.state.unwrap(), first.items, first.next_cursor);
        while let Some(cursor) = next {
            asked.after = Some(cursor.parse().unwrap());
            let page = self.past.history(asked).await.unwrap();
            items.extend(page.items);
            next = page.next_cursor;
        }
        Span { state, items }
    }
}

impl Span {
    /// How everything was at a moment of it, one line for each thing.
    pub(crate) fn at(&self, at: Timestamp) -> Vec<String> {
        let services = self.state.services.iter().map(|one| (one.id, one.clone()));
        let dependencies = self.state.dependencies.iter().map(|one| (one.id, one.clone()));
        let mut world =
            World { services: services.collect(), dependencies: dependencies.collect() };
        for item in self.items.iter().filter(|item| item.at <= at) {
            world.set(item);
        }
        world.lines()
    }
}

struct World {
    services: BTreeMap<Id, HistoryService>,
    dependencies: BTreeMap<Id, HistoryDependency>,
}

fn said(item: &HistoryItem) -> DependencyStatus {
    DependencyStatus::from_name(item.after.as_deref().unwrap()).unwrap()
}

impl World {
    fn set(&mut self, item: &HistoryItem) {
        match item.dependency_id {
            Some(id) => self.set_dependency(id, item),
            None => self.set_service(item),
        }
    }

    fn set_service(&mut self, item: &HistoryItem) {
        let (id, at, after) = (item.service_id, item.at, item.after.clone());
        if item.kind == ChangeKind::Added {
            let (status, stale_since) = (ServiceStatus::Unknown, None);
            let name = after.unwrap();
            let added = HistoryService { id, name, status, status_since: at, stale_since };
            self.services.insert(id, added);
            return;
        }
        let Some(one) = self.services.get_mut(&id) else { return };
        match item.kind {
            ChangeKind::Service => {
                one.status = ServiceStatus::from_name(&after.unwrap()).unwrap();
                one.status_since = at;
            }
            ChangeKind::Stale => {
                one.stale_since = (after.as_deref() == Some("stale")).then_some(at);
            }
            ChangeKind::Renamed => one.name = after.unwrap(),
            ChangeKind::Removed => drop(self.services.remove(&id)),
            other => panic!("{other:?} of a service"),
        }
    }

    fn set_dependency(&mut self, id: Id, item: &HistoryItem) {
        let (at, after) = (item.at, item.after.clone());
        if item.kind == ChangeKind::Added {
            let name = item.dependency_name.clone().unwrap();
            let added = HistoryDependency {
                id,
                service_id: item.service_id,
                canonical_name: name.clone(),
                name,
                status: said(item),
                status_since: at,
                missing_since: None,
                linked_service_id: None,
                is_closed: false,
            };
            self.dependencies.insert(id, added);
            return;
        }
        let Some(one) = self.dependencies.get_mut(&id) else { return };
        match item.kind {
            ChangeKind::Dependency => (one.status, one.status_since) = (said(item), at),
            ChangeKind::Missing => {
                let is_missing = after.as_deref() == Some("missing");
                one.missing_since = is_missing.then_some(at);
                one.is_closed &= is_missing;
            }
            ChangeKind::Alias => one.canonical_name = after.unwrap(),
            ChangeKind::Link => one.linked_service_id = after.map(|id| id.parse().unwrap()),
            ChangeKind::Removed => one.is_closed = true,
            other => panic!("{other:?} of a dependency"),
        }
    }

    fn lines(&self) -> Vec<String> {
        let services = self.services.values().map(|one| format!("{one:?}"));
        let open = self
            .dependencies
            .values()
            .filter(|one| !one.is_closed && self.services.contains_key(&one.service_id));
        services.chain(open.map(|one| format!("{one:?}"))).collect()
    }
}

/// The same of a moment as the server tells it.
pub(crate) fn told(state: &PastState) -> Vec<String> {
    let services = state.services().map(|(_, one)| {
        let (status, status_since) = (one.status, one.status_since);
        let (name, stale_since) = (one.name.clone(), one.stale_since);
        (one.id, HistoryService { id: one.id, name, status, status_since, stale_since })
    });
    let dependencies = state.dependencies().map(|(_, one)| {
        let of = HistoryDependency {
            id: one.id,
            service_id: state.service(one.service_no).unwrap().id,
            name: one.name.clone(),
            canonical_name: one.canonical_name.clone(),
            status: one.said,
            status_since: one.said_since,
            missing_since: one.missing_since,
            linked_service_id: one.linked_service_id,
            is_closed: false,
        };
        (one.id, of)
    });
    World { services: services.collect(), dependencies: dependencies.collect() }.lines()
}
