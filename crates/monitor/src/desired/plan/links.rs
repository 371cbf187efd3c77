//! Which dependencies have to be linked to which services. The services are planned before.

use std::collections::{HashMap, HashSet};

use mainstay_base::Id;
use serde_json::Value;

use super::services::ServiceStep;
use super::{Plan, change, item};
use crate::desired::check::{Wanted, WantedLink};
use crate::desired::current::{Current, HeldDependency};
use crate::desired::error::{DesiredError, Refusal};
use crate::desired::item::{Item, Section};
use crate::desired::view::{Action, FieldChange, PlannedChange};
use crate::formats::bounds::{MAX_EXCERPT_CHARS, clip};
use crate::names::compared;

/// What is done to one dependency.
#[derive(Debug, Clone)]
pub(in crate::desired) struct LinkStep {
    at: Option<usize>,
    pub(in crate::desired) dependency: Id,
    /// The names of the service and the dependency.
    names: (String, String),
    /// The name of the service that it is.
    before: Option<String>,
    /// The service that it will be.
    pub(in crate::desired) to: Option<Target>,
}

/// A service that may not be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::desired) struct Target {
    /// Its name as it is compared.
    pub(in crate::desired) key: String,
    pub(in crate::desired) name: String,
    pub(in crate::desired) id: Option<Id>,
}

impl LinkStep {
    pub(in crate::desired) fn item(&self) -> Item {
        item(Section::Links, self.at, &self.names.1)
    }

    pub(super) fn view(&self) -> PlannedChange {
        let text = |text: Option<&String>| text.map_or(Value::Null, |text| text.as_str().into());
        let after = self.to.as_ref().map(|target| &target.name);
        let action = match (&self.before, after) {
            (None, _) => Action::Add,
            (Some(_), Some(_)) => Action::Change,
            (Some(_), None) => Action::Remove,
        };
        let (service, dependency) = &self.names;
        let fields = vec![FieldChange::new("links_to", text(self.before.as_ref()), text(after))];
        change(action, "link", format!("{service} / {dependency}"), fields)
    }
}

/// The services, as they will be.
struct Services<'a> {
    after: HashMap<String, Target>,
    /// Those that there are, by their ids.
    names: HashMap<Id, &'a str>,
    /// Those that are about to go, by their names and by their ids.
    removed: (HashSet<String>, HashSet<Id>),
}

impl<'a> Services<'a> {
    fn new(plan: &Plan, current: &'a Current) -> Self {
        let mut services = Self {
            after: HashMap::with_capacity(current.services.len()),
            names: HashMap::with_capacity(current.services.len()),
            removed: Default::default(),
        };
        for held in &current.services {
            let name = held.draft.name.as_str();
            services.put(name, Some(held.id));
            services.names.insert(held.id, name);
        }
        for step in &plan.services {
            match step {
                ServiceStep::Add { definition, .. } => services.put(definition.name(), None),
                ServiceStep::Change { id, name, .. } => services.put(name, Some(*id)),
                ServiceStep::Remove { id, name, .. } => {
                    services.after.remove(&compared(name));
                    services.removed.0.insert(compared(name));
                    services.removed.1.insert(*id);
                }
            }
        }
        services
    }

    fn put(&mut self, name: &str, id: Option<Id>) {
        let key = compared(name);
        self.after.insert(key.clone(), Target { key, name: name.to_owned(), id });
    }

    fn find(&self, field: &'static str, key: &str, name: &str) -> Result<&Target, Refusal> {
        self.after.get(key).ok_or_else(|| {
            let name = clip(name, MAX_EXCERPT_CHARS);
            if self.removed.0.contains(key) {
                Refusal::Pruned { field, name }
            } else {
                Refusal::NoService { field, name }
            }
        })
    }

    fn name(&self, id: Id) -> String {
        self.names.get(&id).map(|name| (*name).to_owned()).unwrap_or_default()
    }

    fn is_removed(&self, id: Id) -> bool {
        self.removed.1.contains(&id)
    }
}

pub(super) fn plan(
    plan: &mut Plan,
    current: &Current,
    wanted: &Wanted,
    prune: bool,
) -> Result<(), DesiredError> {
    let services = Services::new(plan, current);
    let held: HashMap<(Id, &str), &HeldDependency> =
        current.dependencies.iter().map(|one| ((one.service, one.name.as_str()), one)).collect();
    let mut named = HashSet::with_capacity(wanted.links.len());
    for (at, link) in wanted.links.iter().enumerate() {
        let place = || Item::new(Section::Links, at, &link.dependency);
        let (from, to) = ends(&services, link).map_err(|reason| reason.of(place()))?;
        let found = from.id.and_then(|id| held.get(&(id, link.dependency.as_str())));
        let Some(found) = found else {
            plan.waiting.push(link.written.clone());
            continue;
        };
        named.insert(found.id);
        if found.linked.is_some() && found.linked == to.id {
            plan.unchanged.links = plan.unchanged.links.saturating_add(1);
            continue;
        }
        plan.links.push(LinkStep {
            at: Some(at),
            dependency: found.id,
            names: (from.name.clone(), found.name.clone()),
            before: found.linked.map(|id| services.name(id)),
            to: Some(to.clone()),
        });
    }
    let prune = prune && !wanted.links.is_empty();
    let others = current.dependencies.iter().filter(|one| !named.contains(&one.id));
    let mut going: HashMap<Id, usize> = HashMap::new();
    for one in others {
        match unlink(&services, one, prune) {
            Unlinking::Step(step) => plan.links.push(step),
            Unlinking::GoesWith(removed) => {
                let count = going.entry(removed).or_default();
                *count = count.saturating_add(1);
            }
            Unlinking::Stays => {}
        }
    }
    for step in &mut plan.services {
        if let ServiceStep::Remove { id, links, .. } = step {
            *links = going.get(id).copied().unwrap_or_default();
        }
    }
    Ok(())
}

fn ends<'a>(
    services: &'a Services<'_>,
    link: &WantedLink,
) -> Result<(&'a Target, &'a Target), Refusal> {
    let from = services.find("service", &link.service, &link.written.service)?;
    let to = services.find("links_to", &link.to, &link.written.links_to)?;
    Ok((from, to))
}

/// What becomes of a link that the document does not name.
enum Unlinking {
    /// It is taken away.
    Step(LinkStep),
    /// It goes with the service that it leads to: removing that one is the change.
    GoesWith(Id),
    /// It stays, or goes with the service that reports it.
    Stays,
}

fn unlink(services: &Services<'_>, one: &HeldDependency, prune: bool) -> Unlinking {
    let Some(linked) = one.linked.filter(|_| !services.is_removed(one.service)) else {
        return Unlinking::Stays;
    };
    if services.is_removed(linked) {
        return Unlinking::GoesWith(linked);
    }
    if !prune {
        return Unlinking::Stays;
    }
    Unlinking::Step(LinkStep {
        at: None,
        dependency: one.id,
        names: (services.name(one.service), one.name.clone()),
        before: Some(services.name(linked)),
        to: None,
    })
}
