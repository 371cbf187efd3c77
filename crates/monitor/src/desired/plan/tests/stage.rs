//! What there is, in memory, and plans carried out on it.

use mainstay_base::{Id, Secret, Timestamp};
use serde_json::{Value, json};

use crate::aliases::Alias;
use crate::desired::check::Wanted;
use crate::desired::current::{Current, HeldDependency};
use crate::desired::plan::{AliasStep, Plan, ServiceStep};
use crate::desired::view::Action;
use crate::names::compared;
use crate::services::headers::Header;
use crate::services::{Definition, Draft, Held};

/// What there is.
#[derive(Debug, Clone, Default)]
pub(super) struct Stage {
    pub(super) current: Current,
    ids: u32,
}

pub(super) fn service(name: &str) -> Value {
    json!({"name": name, "health_endpoint": "http://a.example/"})
}

pub(super) fn link(service: &str, dependency: &str, to: &str) -> Value {
    json!({"service": service, "dependency": dependency, "links_to": to})
}

pub(super) fn headers(pairs: &[(&str, &str)]) -> Vec<Header> {
    let pair =
        |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new((*value).to_owned()));
    pairs.iter().map(pair).collect()
}

/// The changes, one in a line.
pub(super) fn lines(plan: &Plan) -> Vec<String> {
    let changes = plan.view().changes.into_iter().map(|change| {
        let sign = match change.action {
            Action::Add => '+',
            Action::Change => '~',
            Action::Remove => '-',
        };
        let fields: Vec<_> = change
            .fields
            .iter()
            .map(|one| format!("{} {} → {}", one.field, one.before, one.after))
            .collect();
        format!("{sign} {} {} {}", change.kind, change.name, fields.join(", "))
            .trim_end()
            .to_owned()
    });
    changes.collect()
}

impl Stage {
    fn id(&mut self) -> Id {
        self.ids += 1;
        format!("019a8b3c-0000-7000-8000-{:012}", self.ids).parse().unwrap()
    }

    pub(super) fn service(self, name: &str) -> Self {
        self.drafted(name, |_| {})
    }

    pub(super) fn drafted(mut self, name: &str, edit: impl FnOnce(&mut Draft)) -> Self {
        let mut draft = Draft {
            name: name.to_owned(),
            health_endpoint: "http://a.example/".to_owned(),
            ..Draft::default()
        };
        edit(&mut draft);
        let draft = Definition::check(draft).unwrap().draft();
        let id = self.id();
        self.current.services.push(Held { id, draft, sealed: None });
        self
    }

    /// The key to a service's headers is lost.
    pub(super) fn seal(mut self, name: &str, names: &[&str]) -> Self {
        let held = self.current.services.iter_mut().find(|held| held.draft.name == name).unwrap();
        held.draft.headers.clear();
        held.sealed = Some(names.iter().map(|name| (*name).to_owned()).collect());
        self
    }

    pub(super) fn alias(mut self, alias: &str, canonical: &str) -> Self {
        let (id, at) = (self.id(), Timestamp::from_millis(1));
        self.current.aliases.push(Alias {
            id,
            alias: alias.to_owned(),
            canonical_name: canonical.to_owned(),
            created_at: at,
            updated_at: at,
        });
        self
    }

    pub(super) fn dependency(mut self, service: &str, name: &str, to: Option<&str>) -> Self {
        let id = self.id();
        let (service, linked) = (self.find(service), to.map(|to| self.find(to)));
        let dependency = HeldDependency { id, service, name: name.to_owned(), linked };
        self.current.dependencies.push(dependency);
        self
    }

    fn find(&self, name: &str) -> Id {
        let is_it = |held: &&Held| compared(&held.draft.name) == compared(name);
        self.current.services.iter().find(is_it).unwrap().id
    }

    pub(super) fn plan(&self, document: &Value, prune: bool) -> Result<Plan, String> {
        let document = serde_json::from_value(document.clone()).unwrap();
        let wanted = Wanted::check(document).map_err(|error| error.to_string())?;
        Plan::new(&self.current, &wanted, prune).map_err(|error| error.to_string())
    }

    /// As the database would do it.
    pub(super) fn apply(&mut self, plan: &Plan) {
        for step in &plan.services {
            self.apply_service(step);
        }
        for step in &plan.aliases {
            self.apply_alias(step);
        }
        for step in &plan.links {
            let linked = step.to.as_ref().map(|to| to.id.unwrap_or_else(|| self.find(&to.name)));
            let all = &mut self.current.dependencies;
            let one = all.iter_mut().find(|one| one.id == step.dependency).unwrap();
            one.linked = linked;
        }
    }

    fn apply_service(&mut self, step: &ServiceStep) {
        let services = &mut self.current.services;
        match step {
            ServiceStep::Add { definition, .. } => {
                let (id, draft) = (self.id(), definition.draft());
                self.current.services.push(Held { id, draft, sealed: None });
            }
            ServiceStep::Change { id, patch, .. } => {
                let held = services.iter_mut().find(|held| held.id == *id).unwrap();
                if patch.headers.is_some() {
                    held.sealed = None;
                }
                let after = (**patch).clone().apply(held.draft.clone());
                held.draft = Definition::check(after).unwrap().draft();
            }
            ServiceStep::Remove { id, .. } => {
                services.retain(|held| held.id != *id);
                let dependencies = &mut self.current.dependencies;
                dependencies.retain(|one| one.service != *id);
                for one in dependencies.iter_mut().filter(|one| one.linked == Some(*id)) {
                    one.linked = None;
                }
            }
        }
    }

    fn apply_alias(&mut self, step: &AliasStep) {
        let aliases = &mut self.current.aliases;
        match step {
            AliasStep::Add { alias, canonical, .. } => {
                let stage = std::mem::take(self).alias(alias.as_str(), canonical.as_str());
                *self = stage;
            }
            AliasStep::Change { before, canonical, .. } => {
                let alias = aliases.iter_mut().find(|alias| alias.id == before.id).unwrap();
                canonical.as_str().clone_into(&mut alias.canonical_name);
            }
            AliasStep::Remove { before } => aliases.retain(|alias| alias.id != before.id),
        }
    }
}
