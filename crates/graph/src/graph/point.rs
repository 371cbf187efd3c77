//! Which node a report means: the service it is linked to by hand, else the service of its name, else
//! an external thing of its name. A service that comes, goes or is renamed changes that for the reports
//! of its name, and for those that are linked to it.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use super::{Graph, Held, ReportNumber};
use crate::change::{Dependency, Key, compared};

impl Graph {
    pub(super) fn put_dependency(&mut self, service: i64, dependency: Dependency) {
        let Some(reporter) = self.services.get(&service) else { return };
        let known = reporter.dependencies.get(&dependency.number);
        if known.is_some_and(|known| known.dependency == dependency) {
            return;
        }
        let number = (service, dependency.number);
        let key = match known {
            Some(known) if known.dependency.name == dependency.name => Arc::clone(&known.key),
            _ => self.one_of(compared(&dependency.name)),
        };
        let target = self.meant(service, &key, dependency.linked);
        let held = Held { dependency, key, target };
        self.index(number, &held);
        let before = self.hold(number, held.clone());
        if let Some(before) = &before {
            self.unindex(number, before, Some(&held));
        }
        if before.as_ref().is_none_or(|before| !held.tells_same(before)) {
            self.count_clues();
        }
        self.move_report(service, before.as_ref(), Some(&held));
        self.count_version();
    }

    pub(super) fn forget(&mut self, service: i64, dependency: i64) {
        let Some(reporter) = self.services.get_mut(&service) else { return };
        let Some(held) = reporter.dependencies.remove(&dependency) else { return };
        self.unindex((service, dependency), &held, None);
        self.move_report(service, Some(&held), None);
        self.count_version();
        self.count_clues();
    }

    /// A service goes by this name from now on.
    pub(super) fn name(&mut self, service: i64, key: &Arc<str>) {
        self.by_name.entry(Arc::clone(key)).or_default().insert(service);
        self.point_key(key);
    }

    /// A service does not go by this name any more.
    pub(super) fn unname(&mut self, service: i64, key: &Arc<str>) {
        drop_from(&mut self.by_name, key, &service);
        self.point_key(key);
    }

    /// A service came or went: what is linked to it means something else.
    pub(super) fn point_links(&mut self, service: i64) {
        let reports = self.by_link.get(&service).cloned().unwrap_or_default();
        self.point(&reports);
    }

    fn point_key(&mut self, key: &Arc<str>) {
        let reports = self.by_key.get(key).cloned().unwrap_or_default();
        self.point(&reports);
    }

    fn point(&mut self, reports: &BTreeSet<ReportNumber>) {
        for &(service, dependency) in reports {
            let Some(reporter) = self.services.get(&service) else { continue };
            let Some(before) = reporter.dependencies.get(&dependency).cloned() else { continue };
            let target = self.meant(service, &before.key, before.dependency.linked);
            if target != before.target {
                let held = Held { target, ..before.clone() };
                self.hold((service, dependency), held.clone());
                self.move_report(service, Some(&before), Some(&held));
                self.count_version();
                self.count_clues();
            }
        }
    }

    fn meant(&self, service: i64, key: &Arc<str>, linked: Option<i64>) -> Option<Key> {
        let linked = linked.filter(|linked| self.services.contains_key(linked));
        let named = || self.by_name.get(key).and_then(BTreeSet::first).copied();
        match linked.or_else(named) {
            Some(itself) if itself == service => None,
            Some(other) => Some(Key::Service(other)),
            None => Some(Key::External(Arc::clone(key))),
        }
    }

    fn hold(&mut self, (service, dependency): ReportNumber, held: Held) -> Option<Held> {
        self.services.get_mut(&service)?.dependencies.insert(dependency, held)
    }

    fn move_report(&mut self, service: i64, before: Option<&Held>, after: Option<&Held>) {
        let of = |held: Option<&Held>| held.and_then(|held| held.target.clone());
        let (from, to) = (of(before), of(after));
        let (out, into) = (before.map(|one| &one.dependency), after.map(|one| &one.dependency));
        if from == to {
            if let Some(target) = &from {
                self.exchange(service, target, out, into);
            }
            return;
        }
        // First in, then out: a thing that both have to do with does not go and come back.
        if let Some(target) = &to {
            self.exchange(service, target, None, into);
        }
        if let Some(target) = &from {
            self.exchange(service, target, out, None);
        }
    }

    /// The same text as others have it, so that it is kept once.
    fn one_of(&self, key: Arc<str>) -> Arc<str> {
        self.by_key.get_key_value(&key).map_or(key, |(known, _)| Arc::clone(known))
    }

    fn index(&mut self, number: ReportNumber, held: &Held) {
        self.by_key.entry(Arc::clone(&held.key)).or_default().insert(number);
        if let Some(linked) = held.dependency.linked {
            self.by_link.entry(linked).or_default().insert(number);
        }
    }

    /// Takes a report out of the indexes, as far as it does not stand there `now`.
    fn unindex(&mut self, number: ReportNumber, before: &Held, now: Option<&Held>) {
        if now.is_none_or(|now| now.key != before.key) {
            drop_from(&mut self.by_key, &before.key, &number);
        }
        if let Some(linked) = before.dependency.linked
            && now.is_none_or(|now| now.dependency.linked != Some(linked))
        {
            drop_from(&mut self.by_link, &linked, &number);
        }
    }
}

impl Held {
    /// Whether both say the same to whoever looks for links.
    fn tells_same(&self, other: &Self) -> bool {
        let (one, two) = (&self.dependency, &other.dependency);
        (&one.name, &one.hosts, &self.target) == (&two.name, &two.hosts, &other.target)
    }
}

fn drop_from<K: Eq + Hash, V: Ord>(index: &mut HashMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = index.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(key);
        }
    }
}
