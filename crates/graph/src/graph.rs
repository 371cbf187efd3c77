//! The graph, kept by small changes: each costs what it changes, never the whole.

mod edges;
mod point;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use mainstay_base::Timestamp;

use self::edges::{External, Reports};
use crate::change::{Change, Dependency, Key, Service, compared};
use crate::snapshot::Snapshot;

/// Services, what they report, and what follows from that: which node each report means, and how
/// external things are.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    services: BTreeMap<i64, Reporter>,
    /// A thing is in the graph while somebody leans on it.
    externals: BTreeMap<Arc<str>, External>,
    /// Services by the name that they are compared by: more than one only between two changes that
    /// swap names.
    by_name: HashMap<Arc<str>, BTreeSet<i64>>,
    /// Reports by the name that they are compared by.
    by_key: HashMap<Arc<str>, BTreeSet<ReportNumber>>,
    /// Reports by the service that somebody said they are, whether it is in the graph or not.
    by_link: HashMap<i64, BTreeSet<ReportNumber>>,
    edges: usize,
    version: u64,
    topology: u64,
    clues: u64,
}

/// The number of a service and of a dependency that it reports.
type ReportNumber = (i64, i64);

/// A service with what it reports.
#[derive(Debug, Clone)]
pub(crate) struct Reporter {
    pub(crate) service: Service,
    /// Its name as it is compared.
    key: Arc<str>,
    pub(crate) dependencies: BTreeMap<i64, Held>,
    /// What it leans on, and which of its reports say so.
    pub(crate) edges: BTreeMap<Key, Reports>,
}

/// A dependency with what it means.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) dependency: Dependency,
    /// Its name as it is compared.
    pub(crate) key: Arc<str>,
    /// `None` when the service reports itself.
    pub(crate) target: Option<Key>,
}

impl Graph {
    /// Takes in a change. A change of a service that is not in the graph changes nothing.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Service(service) => self.put_service(service),
            Change::Removed { service } => self.remove_service(service),
            Change::Status { service, status, since } => {
                self.edit(service, |service| {
                    let failing = service.fails_since().unwrap_or(since);
                    service.failing_since = status.is_unhealthy().then_some(failing);
                    (service.status, service.since) = (status, since);
                });
            }
            Change::Stale { service, since } => {
                self.edit(service, |service| service.stale_since = since);
            }
            Change::Dependencies { service, dependencies } => self.replace(service, dependencies),
            Change::Dependency { service, dependency } => self.put_dependency(service, dependency),
            Change::Forgotten { service, dependency } => self.forget(service, dependency),
        }
    }

    /// Counts whatever changed: the same number, the same graph.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Counts changes of nodes and edges: the same number, the same drawing.
    #[must_use]
    pub const fn topology(&self) -> u64 {
        self.topology
    }

    /// Counts changes of names, of hosts and of what reports mean: the same number, the same suggestions.
    #[must_use]
    pub const fn clues(&self) -> u64 {
        self.clues
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.services.len().saturating_add(self.externals.len())
    }

    /// How many edges there are.
    #[must_use]
    pub const fn edges(&self) -> usize {
        self.edges
    }

    /// The numbers of all services, in order.
    pub fn services(&self) -> impl Iterator<Item = i64> + '_ {
        self.services.keys().copied()
    }

    /// A service, if it is in the graph.
    #[must_use]
    pub fn service(&self, number: i64) -> Option<&Service> {
        self.services.get(&number).map(|reporter| &reporter.service)
    }

    /// The dependencies of a service that it does not report any more, with since when.
    pub fn missing(&self) -> impl Iterator<Item = (i64, i64, Timestamp)> + '_ {
        self.services.iter().flat_map(|(&service, reporter)| {
            reporter.dependencies.iter().filter_map(move |(&number, held)| {
                held.dependency.missing_since.map(|since| (service, number, since))
            })
        })
    }

    /// The graph as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self)
    }

    pub(crate) const fn reporters(&self) -> &BTreeMap<i64, Reporter> {
        &self.services
    }

    pub(crate) const fn externals(&self) -> &BTreeMap<Arc<str>, External> {
        &self.externals
    }

    fn put_service(&mut self, service: Service) {
        let number = service.number;
        let key = compared(&service.name);
        match self.services.get_mut(&number) {
            Some(known) if known.service == service => return,
            Some(known) => {
                let before = std::mem::replace(&mut known.key, Arc::clone(&key));
                let stale_before = known.service.stale_since;
                let tells_same = tells_same(&known.service, &service);
                known.service = service;
                self.restale(number, stale_before);
                if !tells_same {
                    self.count_clues();
                }
                if before != key {
                    self.unname(number, &before);
                    self.name(number, &key);
                }
            }
            None => {
                let reporter = Reporter {
                    service,
                    key: Arc::clone(&key),
                    dependencies: BTreeMap::new(),
                    edges: BTreeMap::new(),
                };
                self.services.insert(number, reporter);
                self.count_topology();
                self.count_clues();
                self.name(number, &key);
                self.point_links(number);
            }
        }
        self.count_version();
    }

    fn remove_service(&mut self, number: i64) {
        let Some(reporter) = self.services.get(&number) else { return };
        let key = Arc::clone(&reporter.key);
        let reported: Vec<i64> = reporter.dependencies.keys().copied().collect();
        for dependency in reported {
            self.forget(number, dependency);
        }
        self.services.remove(&number);
        self.count_topology();
        self.count_clues();
        self.unname(number, &key);
        self.point_links(number);
        self.count_version();
    }

    fn edit(&mut self, number: i64, change: impl FnOnce(&mut Service)) {
        if let Some(reporter) = self.services.get(&number) {
            let mut service = reporter.service.clone();
            change(&mut service);
            self.put_service(service);
        }
    }

    fn replace(&mut self, service: i64, dependencies: Vec<Dependency>) {
        let Some(reporter) = self.services.get(&service) else { return };
        let kept: BTreeSet<i64> = dependencies.iter().map(|one| one.number).collect();
        let gone: Vec<i64> =
            reporter.dependencies.keys().filter(|one| !kept.contains(one)).copied().collect();
        for dependency in gone {
            self.forget(service, dependency);
        }
        for dependency in dependencies {
            self.put_dependency(service, dependency);
        }
    }

    const fn count_version(&mut self) {
        self.version = self.version.saturating_add(1);
    }

    const fn count_topology(&mut self) {
        self.topology = self.topology.saturating_add(1);
    }

    const fn count_clues(&mut self) {
        self.clues = self.clues.saturating_add(1);
    }
}

/// Whether both say the same to whoever looks for links.
fn tells_same(one: &Service, other: &Service) -> bool {
    (one.id, &one.name, &one.host) == (other.id, &other.name, &other.host)
}
