//! What is given back before it is begun: of a kind that was paused, and what was fetched too far
//! ahead.

use std::collections::HashSet;

use mainstay_base::Moment;

use super::engine::Engine;
use crate::decide::READY_WAITS;
use crate::model::{Claimed, Kind, Lease};

impl Engine {
    pub(super) fn give_back_paused(&mut self, kind: &str) {
        let paused = |job: &Claimed| job.kind.as_str() == kind;
        let leases = self.waiting().filter(|job| paused(job)).map(Claimed::lease).collect();
        self.give_back(&leases);
    }

    /// Others may be idle. The kinds are remembered as slow, or the same would be fetched again.
    pub(super) fn give_back_stale(&mut self, now: Moment) {
        let places = usize::try_from(self.options.concurrency).unwrap_or(usize::MAX);
        if self.running < places {
            return;
        }
        let waited = |job: &Claimed| self.held.waited(job.lease, now).unwrap_or_default();
        let stale: Vec<&Claimed> = self.waiting().filter(|job| waited(job) > READY_WAITS).collect();
        let kinds: HashSet<Kind> = stale.iter().map(|job| job.kind.clone()).collect();
        let leases = stale.iter().map(|job| job.lease).collect();
        for kind in kinds {
            self.means.add(&kind, READY_WAITS);
        }
        self.give_back(&leases);
    }

    fn waiting(&self) -> impl Iterator<Item = &Claimed> {
        self.ready.iter().chain(&self.marked)
    }

    fn give_back(&mut self, leases: &HashSet<Lease>) {
        if leases.is_empty() {
            return;
        }
        self.ready.retain(|job| !leases.contains(&job.lease));
        self.marked.retain(|job| !leases.contains(&job.lease));
        let leases: Vec<Lease> = leases.iter().copied().collect();
        self.forget(&leases);
        tracing::debug!(
            jobs = leases.len(),
            runner = self.options.id,
            "jobs are given back unbegun"
        );
        self.begin_release(leases);
    }
}
