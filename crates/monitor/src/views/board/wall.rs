//! What everything leans on, grouped by name, the worst first. Pure.

use std::collections::{BTreeMap, HashMap};

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
    /// Since when it is one of the two without a break.
    #[schema(value_type = String, format = DateTime)]
    pub failing_since: Timestamp,
    /// Why its last poll failed, if it did.
    #[schema(required)]
    pub error_message: Option<String>,
}

/// Dependencies that go by one name, in any case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct WallGroup {
    /// What the service of that name is called, or else what most call it, as in the graph.
    #[schema(example = "Orders database")]
    pub canonical_name: String,
    /// The worst that a service says of it: down, degraded, healthy; but no worse than degraded where a
    /// service of that name answers and says so itself. Unknown only if nobody knows, as in the graph, and
    /// skipped if all leave it out.
    pub status: DependencyStatus,
    /// Since when a service says so.
    #[schema(value_type = String, format = DateTime)]
    pub since: Timestamp,
    /// Since when the first of those who find it degraded or down now does so without a break; `null` while
    /// nobody does.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    pub failing_since: Option<Timestamp>,
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
    pub(in crate::views) failing_since: Timestamp,
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
    pub(in crate::views) failing_since: Option<Timestamp>,
    pub(in crate::views) error_message: Option<String>,
}

/// Gathers what services say.
#[derive(Debug, Default)]
pub(in crate::views) struct Gathering {
    services: Vec<WallService>,
    groups: HashMap<String, Group>,
    /// What services are called, by name as it is compared.
    own_names: HashMap<String, String>,
    /// Those that answer and are degraded, by name: since when, and since when they fail.
    degraded: HashMap<String, (Timestamp, Timestamp)>,
}

#[derive(Debug, Default)]
struct Group {
    /// How it is called, with how often.
    names: BTreeMap<String, usize>,
    counts: DependencyCounts,
    /// The worst first: severity, since when, and the service's place.
    reporters: Vec<(u8, Timestamp, usize, DependencyStatus)>,
    failing_since: Option<Timestamp>,
    error: Option<(Timestamp, String)>,
    /// Since when the service of that name says itself that it is degraded, and since when it fails.
    answers_degraded: Option<(Timestamp, Timestamp)>,
}

impl Gathering {
    /// Takes in what a service says.
    pub(in crate::views) fn add(&mut self, mut service: WallService, said: Vec<WallSaid>) {
        let (place, hidden_since) = (self.services.len(), service.hidden_since);
        if let Some(own) = &service.failing
            && own.status == DependencyStatus::Degraded
        {
            self.degraded.insert(compared(&service.name), (own.since, own.failing_since));
        }
        for one in said {
            let (status, since) = match hidden_since {
                Some(hidden) if one.status == DependencyStatus::Unknown => {
                    (DependencyStatus::Unknown, hidden.min(one.since))
                }
                Some(hidden) => (DependencyStatus::Unknown, hidden),
                None => (one.status, one.since),
            };
            if status.is_unhealthy() {
                // One that answers is degraded by what it leans on, and that has a group.
                service.failing =
                    service.failing.filter(|own| own.status == DependencyStatus::Down);
            }
            let group = self.groups.entry(one.key).or_default();
            group.called(one.name);
            if status.is_unhealthy() {
                group.fails_since(one.failing_since.unwrap_or(since));
            }
            group.add(place, status, since, one.error_message);
        }
        self.own_names.insert(compared(&service.name), service.name.clone());
        self.services.push(service);
    }

    /// The wallboard of what was taken in.
    pub(in crate::views) fn end(mut self) -> Wallboard {
        let total = self.groups.len();
        for (name, own) in std::mem::take(&mut self.degraded) {
            if let Some(group) = self.groups.get_mut(&name) {
                group.answers_degraded = Some(own);
            }
        }
        let mut failing = self.untold();
        let failing_total = failing.len();
        failing.truncate(MAX_FAILING);
        let mut groups: Vec<_> = self.groups.into_iter().collect();
        groups.sort_by(|(key, one), (other_key, other)| {
            one.rank().cmp(&other.rank()).then_with(|| key.cmp(other_key))
        });
        groups.truncate(MAX_GROUPS);
        let (services, mut own_names) = (&self.services, self.own_names);
        let shown = |(key, group): (String, Group)| {
            let name = own_names.remove(&key).unwrap_or_else(|| group.name());
            group.shown(name, services)
        };
        let items = groups.into_iter().map(shown).collect();
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
            let Failing { status, since, failing_since, error_message } = failing;
            WallFailing { service_id, service_name, status, since, failing_since, error_message }
        };
        found.into_iter().map(shown).collect()
    }
}

impl Group {
    fn called(&mut self, name: String) {
        let count = self.names.entry(name).or_default();
        *count = count.saturating_add(1);
    }

    /// What most call it.
    fn name(&self) -> String {
        let most = self.names.values().max();
        let first = self.names.iter().find(|(_, count)| Some(*count) == most);
        first.map(|(name, _)| name.clone()).unwrap_or_default()
    }

    fn fails_since(&mut self, since: Timestamp) {
        self.failing_since = Some(self.failing_since.map_or(since, |first| first.min(since)));
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
        if let Some(message) = message.filter(|_| status.is_unhealthy())
            && self.error.as_ref().is_none_or(|(at, _)| *at <= since)
        {
            self.error = Some((since, message));
        }
    }

    /// The worst first, and of equals those that trouble most services.
    fn rank(&self) -> (u8, std::cmp::Reverse<i64>) {
        let troubled = self.counts.down.saturating_add(self.counts.degraded);
        (place(self.stands().0), std::cmp::Reverse(troubled))
    }

    /// How it is, since when, and since when it fails. Who finds a service down that answers did not wait
    /// for it: that is no worse than what it says itself.
    fn stands(&self) -> (DependencyStatus, Timestamp, Option<Timestamp>) {
        let worst = self.reporters.first();
        let status = worst.map_or(DependencyStatus::Unknown, |one| one.3);
        match self.answers_degraded.filter(|_| status == DependencyStatus::Down) {
            Some((since, failing_since)) => {
                (DependencyStatus::Degraded, since, Some(failing_since))
            }
            None => {
                let since = worst.map_or(Timestamp::from_millis(0), |one| one.1);
                (status, since, self.failing_since)
            }
        }
    }

    fn shown(self, canonical_name: String, services: &[WallService]) -> WallGroup {
        let (status, since, failing_since) = self.stands();
        let named = |(_, since, place, status): (u8, Timestamp, usize, DependencyStatus)| {
            let service = services.get(place)?;
            let (service_id, service_name) = (service.id, service.name.clone());
            Some(WallReporter { service_id, service_name, status, since })
        };
        WallGroup {
            canonical_name,
            status,
            since,
            failing_since,
            counts: self.counts,
            error_message: self.error.map(|(_, message)| message),
            reported_by: self.reporters.into_iter().filter_map(named).collect(),
        }
    }
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
#[path = "wall_tests.rs"]
mod tests;
