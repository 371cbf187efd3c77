//! What everything leans on, grouped by name, the worst first. Pure.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use crate::names::compared;
use crate::report::DependencyStatus;
use crate::views::service::DependencyCounts;

/// The most groups of a wallboard: of more, the last are left out.
pub const MAX_GROUPS: usize = 1_000;
/// The most services that are named as those that report a thing.
pub const MAX_REPORTERS: usize = 5;

/// The most services that fail and are no group: of more, the last are left out.
pub const MAX_FAILING: usize = 1_000;

/// What everything leans on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Wallboard {
    /// How many groups there are, those included that are left out.
    pub total: usize,
    /// The groups, the worst first.
    pub items: Vec<WallGroup>,
    /// How many services fail that no group tells of, those included that are left out.
    pub failing_total: usize,
    /// The services that fail without a group that tells of it, the worst first: none goes by their name
    /// and is as bad as they are, and they do not fail because of what they lean on.
    pub failing: Vec<WallFailing>,
}

/// A service that fails, as its own polls tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WallFailing {
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name.
    pub service_name: String,
    /// Down or degraded.
    pub status: DependencyStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// Why its last poll failed, if it did.
    #[schema(required)]
    pub error_message: Option<String>,
}

/// Dependencies that go by one name, in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WallGroup {
    /// The name.
    #[schema(example = "Orders database")]
    pub canonical_name: String,
    /// The worst that a service says of it: down, degraded, healthy. Unknown only if nobody knows, as in
    /// the graph, and skipped if all leave it out.
    pub status: DependencyStatus,
    /// Since when a service says so.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// How many services say what of it.
    pub counts: DependencyCounts,
    /// The newest message of those that say it does not work.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Who says so, the worst first, up to five.
    pub reported_by: Vec<WallReporter>,
}

/// A service that reports a thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WallReporter {
    /// The service.
    #[schema(value_type = String)]
    pub service_id: Id,
    /// Its name.
    pub service_name: String,
    /// What it says.
    pub status: DependencyStatus,
    /// Since when.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
}

/// A service as far as the wall needs it.
#[derive(Debug)]
pub(in crate::views) struct WallService {
    pub(in crate::views) id: Id,
    pub(in crate::views) name: String,
    /// Since when nothing is known of what it leans on.
    pub(in crate::views) hidden_since: Option<Timestamp>,
    /// How it fails, if it does.
    pub(in crate::views) failing: Option<Failing>,
}

/// How a service fails.
#[derive(Debug)]
pub(in crate::views) struct Failing {
    pub(in crate::views) status: DependencyStatus,
    pub(in crate::views) since: Timestamp,
    pub(in crate::views) error_message: Option<String>,
}

/// What a service last said of a dependency.
#[derive(Debug)]
pub(in crate::views) struct WallSaid {
    /// The name as it is compared.
    pub(in crate::views) key: String,
    pub(in crate::views) name: String,
    /// Unknown when it does not report it any more.
    pub(in crate::views) status: DependencyStatus,
    pub(in crate::views) since: Timestamp,
    pub(in crate::views) error_message: Option<String>,
}

/// Gathers what services say.
#[derive(Debug, Default)]
pub(in crate::views) struct Gathering {
    services: Vec<WallService>,
    groups: HashMap<String, Group>,
}

#[derive(Debug)]
struct Group {
    name: String,
    counts: DependencyCounts,
    /// The worst first: severity, since when, and the service's place.
    reporters: Vec<(u8, Timestamp, usize, DependencyStatus)>,
    error: Option<(Timestamp, String)>,
}

impl Gathering {
    /// Takes in what a service says.
    pub(in crate::views) fn add(&mut self, mut service: WallService, said: Vec<WallSaid>) {
        let (place, hidden_since) = (self.services.len(), service.hidden_since);
        for one in said {
            let (status, since) = match hidden_since {
                Some(hidden) if one.status == DependencyStatus::Unknown => {
                    (DependencyStatus::Unknown, hidden.min(one.since))
                }
                Some(hidden) => (DependencyStatus::Unknown, hidden),
                None => (one.status, one.since),
            };
            if is_broken(status) {
                // One that answers is degraded by what it leans on, and that has a group.
                service.failing =
                    service.failing.filter(|own| own.status == DependencyStatus::Down);
            }
            let group = self.groups.entry(one.key).or_insert_with(|| Group::new(one.name));
            group.add(place, status, since, one.error_message);
        }
        self.services.push(service);
    }

    /// The wallboard of what was taken in.
    pub(in crate::views) fn end(mut self) -> Wallboard {
        let total = self.groups.len();
        let mut failing = self.untold();
        let failing_total = failing.len();
        failing.truncate(MAX_FAILING);
        let mut groups: Vec<_> = self.groups.into_iter().collect();
        groups.sort_by(|(key, one), (other_key, other)| {
            one.rank().cmp(&other.rank()).then_with(|| key.cmp(other_key))
        });
        groups.truncate(MAX_GROUPS);
        let services = &self.services;
        let items = groups.into_iter().map(|(_, group)| group.shown(services)).collect();
        Wallboard { total, items, failing_total, failing }
    }

    /// The services that fail though no group tells so.
    fn untold(&mut self) -> Vec<WallFailing> {
        let groups = &self.groups;
        let told = |name: &str, severity: u8| {
            groups.get(&compared(name)).is_some_and(|group| group.rank().0 <= severity)
        };
        let mut found: Vec<_> = self
            .services
            .iter_mut()
            .filter_map(|service| {
                let failing = service.failing.take()?;
                let severity = severity(failing.status);
                (!told(&service.name, severity))
                    .then(|| (severity, service.id, service.name.clone(), failing))
            })
            .collect();
        found.sort_by(|one, other| (one.0, &one.2).cmp(&(other.0, &other.2)));
        let shown = |(_, service_id, service_name, failing): (u8, Id, String, Failing)| {
            let Failing { status, since, error_message } = failing;
            WallFailing { service_id, service_name, status, since, error_message }
        };
        found.into_iter().map(shown).collect()
    }
}

impl Group {
    fn new(name: String) -> Self {
        let (counts, reporters) = (DependencyCounts::default(), Vec::with_capacity(1));
        Self { name, counts, reporters, error: None }
    }

    fn add(
        &mut self,
        place: usize,
        status: DependencyStatus,
        since: Timestamp,
        message: Option<String>,
    ) {
        let count = match status {
            DependencyStatus::Healthy => &mut self.counts.healthy,
            DependencyStatus::Degraded => &mut self.counts.degraded,
            DependencyStatus::Down => &mut self.counts.down,
            DependencyStatus::Unknown => &mut self.counts.unknown,
            DependencyStatus::Skipped => &mut self.counts.skipped,
        };
        *count = count.saturating_add(1);
        let reporter = (severity(status), since, place, status);
        let at = self
            .reporters
            .partition_point(|one| (one.0, one.1, one.2) <= (reporter.0, reporter.1, reporter.2));
        if at < MAX_REPORTERS {
            self.reporters.truncate(MAX_REPORTERS.saturating_sub(1));
            self.reporters.insert(at, reporter);
        }
        if let Some(message) = message.filter(|_| is_broken(status))
            && self.error.as_ref().is_none_or(|(at, _)| *at <= since)
        {
            self.error = Some((since, message));
        }
    }

    /// The worst first, and of equals those that trouble most services.
    fn rank(&self) -> (u8, std::cmp::Reverse<i64>) {
        let troubled = self.counts.down.saturating_add(self.counts.degraded);
        (self.reporters.first().map_or(u8::MAX, |one| place(one.3)), std::cmp::Reverse(troubled))
    }

    fn shown(self, services: &[WallService]) -> WallGroup {
        let worst = self.reporters.first();
        let status = worst.map_or(DependencyStatus::Unknown, |one| one.3);
        let since = worst.map_or(Timestamp::from_millis(0), |one| one.1);
        let named = |(_, since, place, status): (u8, Timestamp, usize, DependencyStatus)| {
            let service = services.get(place)?;
            let (service_id, service_name) = (service.id, service.name.clone());
            Some(WallReporter { service_id, service_name, status, since })
        };
        WallGroup {
            canonical_name: self.name,
            status,
            since,
            counts: self.counts,
            error_message: self.error.map(|(_, message)| message),
            reported_by: self.reporters.into_iter().filter_map(named).collect(),
        }
    }
}

const fn is_broken(status: DependencyStatus) -> bool {
    matches!(status, DependencyStatus::Down | DependencyStatus::Degraded)
}

/// Where a group stands: what nobody knows of may be worse than what is fine.
const fn place(status: DependencyStatus) -> u8 {
    match status {
        DependencyStatus::Down => 0,
        DependencyStatus::Degraded => 1,
        DependencyStatus::Unknown => 2,
        DependencyStatus::Healthy => 3,
        DependencyStatus::Skipped => 4,
    }
}

/// Who of a group is heard: the worst. One who knows that it is fine counts more than any number that
/// tell nothing, as in the graph.
const fn severity(status: DependencyStatus) -> u8 {
    match status {
        DependencyStatus::Down => 0,
        DependencyStatus::Degraded => 1,
        DependencyStatus::Healthy => 2,
        DependencyStatus::Unknown => 3,
        DependencyStatus::Skipped => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DependencyStatus::{Degraded, Down, Healthy, Skipped, Unknown};

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn service(number: u32, hidden_since: Option<i64>) -> WallService {
        let id = format!("019a8b3c-0000-7000-8000-{number:012}").parse().unwrap();
        let hidden_since = hidden_since.map(at);
        WallService { id, name: format!("s{number}"), hidden_since, failing: None }
    }

    fn failing(number: u32, status: DependencyStatus) -> WallService {
        let failing = Failing { status, since: at(7), error_message: Some("refused".to_owned()) };
        WallService { failing: Some(failing), ..service(number, None) }
    }

    fn said(name: &str, status: DependencyStatus, since: i64) -> WallSaid {
        WallSaid {
            key: name.to_lowercase(),
            name: name.to_owned(),
            status,
            since: at(since),
            error_message: (status == Down).then(|| format!("{name} refused at {since}")),
        }
    }

    #[test]
    fn groups_come_worst_first_and_then_by_how_many_they_trouble() {
        let mut all = Gathering::default();
        all.add(
            service(1, None),
            vec![
                said("fine", Healthy, 1),
                said("left out", Skipped, 1),
                said("gone", Unknown, 1),
                said("slow", Degraded, 1),
                said("broken", Down, 1),
                said("Worse", Down, 7),
            ],
        );
        all.add(service(2, None), vec![said("worse", Down, 5), said("fine", Healthy, 2)]);
        let wall = all.end();
        let names: Vec<_> = wall.items.iter().map(|one| one.canonical_name.as_str()).collect();
        assert_eq!(names, ["Worse", "broken", "slow", "gone", "fine", "left out"]);
        assert_eq!(wall.total, 6);
        let worse = &wall.items[0];
        assert_eq!((worse.status, worse.since, worse.counts.down), (Down, at(5), 2));
        assert_eq!(worse.error_message.as_deref(), Some("Worse refused at 7"));
        let reporters: Vec<_> =
            worse.reported_by.iter().map(|one| one.service_name.as_str()).collect();
        assert_eq!(reporters, ["s2", "s1"], "those who say so for longest come first");
    }

    #[test]
    fn what_a_service_last_said_is_hidden_while_it_can_not_be_asked() {
        let mut all = Gathering::default();
        all.add(service(1, Some(50)), vec![said("db", Down, 10), said("gone", Unknown, 20)]);
        all.add(service(2, None), vec![said("db", Healthy, 30)]);
        let wall = all.end();
        let [gone, db] = wall.items.as_slice() else { panic!("{wall:?}") };
        assert_eq!((db.status, db.since, db.error_message.as_ref()), (Healthy, at(30), None));
        assert_eq!((db.counts.unknown, db.counts.healthy), (1, 1));
        assert_eq!((gone.status, gone.since), (Unknown, at(20)), "the first that hid it counts");
    }

    #[test]
    fn few_are_named_and_all_are_counted() {
        let mut all = Gathering::default();
        for number in 0..100 {
            let status = if number == 63 { Down } else { Healthy };
            all.add(service(number, None), vec![said("db", status, 1_000 - i64::from(number))]);
        }
        let wall = all.end();
        let names: Vec<_> =
            wall.items[0].reported_by.iter().map(|one| one.service_name.as_str()).collect();
        assert_eq!(names, ["s63", "s99", "s98", "s97", "s96"]);
        assert_eq!((wall.items[0].counts.healthy, wall.items[0].counts.down), (99, 1));
    }

    #[test]
    fn a_wall_has_room_for_so_many_groups() {
        let mut all = Gathering::default();
        let many = (0..=MAX_GROUPS).map(|n| said(&format!("{n:05}"), Healthy, 1)).collect();
        all.add(service(1, None), many);
        all.add(service(2, None), vec![said("zzz", Down, 1)]);
        let wall = all.end();
        assert_eq!((wall.total, wall.items.len()), (MAX_GROUPS + 2, MAX_GROUPS));
        assert_eq!(wall.items[0].canonical_name, "zzz");
    }

    #[test]
    fn a_service_that_fails_is_told_of_unless_a_group_by_its_name_is_as_bad() {
        let mut all = Gathering::default();
        all.add(failing(1, Degraded), Vec::new());
        all.add(failing(2, Down), Vec::new());
        all.add(failing(3, Down), Vec::new());
        all.add(failing(4, Degraded), Vec::new());
        let told = [said("S3", Down, 1), said("s4", Down, 1), said("S2", Degraded, 1)];
        all.add(service(5, None), told.into());
        let wall = all.end();
        let names: Vec<_> = wall.failing.iter().map(|one| one.service_name.as_str()).collect();
        assert_eq!(names, ["s2", "s1"], "the worst first");
        let first = &wall.failing[0];
        assert_eq!((first.status, first.since), (Down, at(7)));
        assert_eq!(first.error_message.as_deref(), Some("refused"));
        assert_eq!((wall.failing_total, wall.total), (2, 3));
    }

    #[test]
    fn a_service_that_answers_and_leans_on_what_fails_has_no_place_of_its_own() {
        let mut all = Gathering::default();
        all.add(failing(1, Degraded), vec![said("fine", Healthy, 1), said("db", Down, 1)]);
        all.add(failing(2, Down), vec![said("db", Down, 1)]);
        let names: Vec<_> = all.end().failing.into_iter().map(|one| one.service_name).collect();
        assert_eq!(names, ["s2"]);
    }

    #[test]
    fn a_wall_has_room_for_so_many_services() {
        let mut all = Gathering::default();
        for number in 0..=u32::try_from(MAX_FAILING).unwrap() {
            all.add(failing(number, Degraded), Vec::new());
        }
        all.add(failing(9_999, Down), Vec::new());
        let wall = all.end();
        assert_eq!((wall.failing_total, wall.failing.len()), (MAX_FAILING + 2, MAX_FAILING));
        assert_eq!(wall.failing[0].service_name, "s9999");
    }
}
