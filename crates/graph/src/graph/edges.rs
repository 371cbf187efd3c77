//! The reports behind an edge, and what they make of an external thing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Graph;
use crate::change::{Dependency, Key};
use crate::status::{Status, Tally};

/// The reports of one service that mean one node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reports {
    /// The numbers of the dependencies.
    pub(crate) dependencies: BTreeSet<i64>,
    tally: Tally,
    missing: usize,
}

/// A thing that is no service.
#[derive(Debug, Clone, Default)]
pub(crate) struct External {
    /// The edges to it by what they say.
    said: Tally,
    /// How it is called, with how often.
    names: BTreeMap<Arc<str>, usize>,
}

impl Reports {
    fn add(&mut self, dependency: &Dependency) {
        self.dependencies.insert(dependency.number);
        self.tally.add(dependency.said());
        self.missing = self.missing.saturating_add(dependency.missing_since.is_some().into());
    }

    fn remove(&mut self, dependency: &Dependency) {
        self.dependencies.remove(&dependency.number);
        self.tally.remove(dependency.said());
        self.missing = self.missing.saturating_sub(dependency.missing_since.is_some().into());
    }

    /// What the reports say together: nothing, when what their service reports is not known.
    pub(crate) fn said(&self, is_stale: bool) -> Option<Status> {
        let said = self.tally.together()?;
        Some(if is_stale { Status::Unknown } else { said })
    }

    /// Whether the service does not report any of them any more.
    pub(crate) fn are_missing(&self) -> bool {
        self.missing == self.dependencies.len()
    }
}

impl External {
    /// How it is, by what everybody says of it.
    pub(crate) fn status(&self) -> Status {
        self.said.together().unwrap_or(Status::Unknown)
    }

    /// What most call it.
    pub(crate) fn name(&self) -> Option<&Arc<str>> {
        let most = self.names.values().max()?;
        self.names.iter().find(|(_, count)| *count == most).map(|(name, _)| name)
    }
}

impl Graph {
    /// Takes one report out of the edge to `target` and puts another into it. The edge comes with its
    /// first report and goes with its last, and so does the external thing at its end.
    pub(super) fn exchange(
        &mut self,
        service: i64,
        target: &Key,
        out: Option<&Dependency>,
        into: Option<&Dependency>,
    ) {
        let Some(reporter) = self.services.get_mut(&service) else { return };
        let is_stale = reporter.service.stale_since.is_some();
        let mut reports = reporter.edges.remove(target).unwrap_or_default();
        let before = reports.said(is_stale);
        out.into_iter().for_each(|one| reports.remove(one));
        into.into_iter().for_each(|one| reports.add(one));
        let after = reports.said(is_stale);
        if after.is_some() {
            reporter.edges.insert(target.clone(), reports);
        }
        if before.is_some() != after.is_some() {
            let (more, less) = (usize::from(after.is_some()), usize::from(before.is_some()));
            self.edges = self.edges.saturating_add(more).saturating_sub(less);
            self.count_topology();
        }
        if let Key::External(key) = target {
            self.rename(key, out, into);
            self.retell(key, before, after);
        }
    }

    /// What a service reports became unknown, or known again.
    pub(super) fn restale(&mut self, service: i64, before: Option<mainstay_base::Timestamp>) {
        let Some(reporter) = self.services.get(&service) else { return };
        let (was, is) = (before.is_some(), reporter.service.stale_since.is_some());
        if was == is {
            return;
        }
        let mut turned = Vec::new();
        for (target, reports) in &reporter.edges {
            if let Key::External(key) = target {
                turned.push((Arc::clone(key), reports.said(was), reports.said(is)));
            }
        }
        for (key, before, after) in turned {
            self.retell(&key, before, after);
        }
    }

    fn rename(&mut self, key: &Arc<str>, out: Option<&Dependency>, into: Option<&Dependency>) {
        let external = self.externals.entry(Arc::clone(key)).or_default();
        if let Some(into) = into {
            let count = external.names.entry(Arc::clone(&into.name)).or_default();
            *count = count.saturating_add(1);
        }
        if let Some(out) = out
            && let Some(count) = external.names.get_mut(&out.name)
        {
            *count = count.saturating_sub(1);
            if *count == 0 {
                external.names.remove(&out.name);
            }
        }
    }

    /// An edge to an external thing says something else.
    fn retell(&mut self, key: &Arc<str>, before: Option<Status>, after: Option<Status>) {
        let Some(external) = self.externals.get_mut(key) else { return };
        before.into_iter().for_each(|status| external.said.remove(status));
        after.into_iter().for_each(|status| external.said.add(status));
        if external.said.together().is_none() {
            self.externals.remove(key);
            self.count_topology();
        }
    }
}
