//! Which services have to be added, changed or removed.

use std::collections::{HashMap, HashSet};

use mainstay_base::Id;
use serde_json::{Value, json};

use super::{Plan, change, headers, item};
use crate::desired::check::{Wanted, WantedService};
use crate::desired::current::Current;
use crate::desired::error::{DesiredError, Refusal};
use crate::desired::item::{Item, Section};
use crate::desired::view::{Action, FieldChange, PlannedChange};
use crate::names::compared;
use crate::services::{Definition, Draft, Held, Patch};

/// What is done to one service.
#[derive(Debug, Clone)]
pub(in crate::desired) enum ServiceStep {
    /// It is not there yet.
    Add { at: usize, definition: Definition },
    /// It is otherwise.
    Change { at: usize, id: Id, name: String, patch: Box<Patch>, fields: Vec<FieldChange> },
    /// The document does not name it.
    Remove {
        id: Id,
        name: String,
        /// How many links of others lead to it, and go with it.
        links: usize,
    },
}

impl ServiceStep {
    pub(in crate::desired) fn item(&self) -> Item {
        let (at, name) = match self {
            Self::Add { at, definition } => (Some(*at), definition.name()),
            Self::Change { at, name, .. } => (Some(*at), name.as_str()),
            Self::Remove { name, .. } => (None, name.as_str()),
        };
        item(Section::Services, at, name)
    }

    /// The address that is asked from then on, where it is another one.
    pub(super) fn address(&self) -> Option<&str> {
        match self {
            Self::Add { definition, .. } => Some(definition.url()),
            Self::Change { patch, fields, .. } => {
                let moves = fields.iter().any(|change| change.field == "health_endpoint");
                patch.health_endpoint.as_deref().filter(|_| moves)
            }
            Self::Remove { .. } => None,
        }
    }

    pub(super) fn view(&self) -> PlannedChange {
        let (action, name, fields) = match self {
            Self::Add { definition, .. } => (Action::Add, definition.name(), Vec::new()),
            Self::Change { name, fields, .. } => (Action::Change, name.as_str(), fields.clone()),
            Self::Remove { name, links: 0, .. } => (Action::Remove, name.as_str(), Vec::new()),
            Self::Remove { name, links, .. } => {
                (Action::Remove, name.as_str(), vec![FieldChange::new("links", *links, 0)])
            }
        };
        change(action, "service", name.to_owned(), fields)
    }
}

pub(super) fn plan(
    plan: &mut Plan,
    current: &Current,
    wanted: &Wanted,
    prune: bool,
) -> Result<(), DesiredError> {
    let held: HashMap<String, &Held> =
        current.services.iter().map(|held| (compared(&held.draft.name), held)).collect();
    for (at, service) in wanted.services.iter().enumerate() {
        let step = match held.get(&service.key) {
            None => add(at, service).map(Some),
            Some(held) => revise(at, held, service),
        };
        let place = || Item::new(Section::Services, at, service.definition.name());
        match step.map_err(|reason| reason.of(place()))? {
            Some(step) => plan.services.push(step),
            None => plan.unchanged.services = plan.unchanged.services.saturating_add(1),
        }
    }
    if prune && !wanted.services.is_empty() {
        let named: HashSet<&str> = wanted.services.iter().map(|one| one.key.as_str()).collect();
        let others = current.services.iter();
        let others = others.filter(|held| !named.contains(compared(&held.draft.name).as_str()));
        plan.services.extend(others.map(|held| ServiceStep::Remove {
            id: held.id,
            name: held.draft.name.clone(),
            links: 0,
        }));
    }
    Ok(())
}

fn add(at: usize, wanted: &WantedService) -> Result<ServiceStep, Refusal> {
    let mut draft = wanted.definition.draft();
    draft.headers = headers::of_new(&wanted.headers)?;
    Ok(ServiceStep::Add { at, definition: Definition::check(draft)? })
}

fn revise(at: usize, held: &Held, wanted: &WantedService) -> Result<Option<ServiceStep>, Refusal> {
    let before = Definition::check(held.draft.clone()).map_err(Refusal::Stored)?;
    let headers = headers::compare(held, &wanted.headers)?;
    let after = Definition::check(Draft { headers: headers.after, ..wanted.definition.draft() })?;
    let (before, after) = (before.draft(), after.draft());
    let mut fields = differences(&before, &after);
    fields.extend(headers.fields);
    if fields.is_empty() {
        return Ok(None);
    }
    let name = after.name.clone();
    let patch = Patch {
        name: Some(after.name),
        team: Some(after.team),
        health_endpoint: Some(after.health_endpoint),
        format: after.format,
        schema_config: Some(after.schema_config),
        poll_interval_ms: after.poll_interval_ms,
        timeout_ms: after.timeout_ms,
        headers: headers.patch,
        is_active: after.is_active,
    };
    Ok(Some(ServiceStep::Change { at, id: held.id, name, patch: Box::new(patch), fields }))
}

/// The fields that differ, but for the headers.
fn differences(before: &Draft, after: &Draft) -> Vec<FieldChange> {
    let pairs = fields(before).into_iter().zip(fields(after));
    pairs
        .filter(|((_, before), (_, after))| before != after)
        .map(|((field, before), (_, after))| FieldChange::new(field, before, after))
        .collect()
}

fn fields(draft: &Draft) -> [(&'static str, Value); 8] {
    [
        ("name", json!(draft.name)),
        ("team", json!(draft.team)),
        ("health_endpoint", json!(draft.health_endpoint)),
        ("format", json!(draft.format)),
        ("schema_config", json!(draft.schema_config)),
        ("poll_interval_ms", json!(draft.poll_interval_ms)),
        ("timeout_ms", json!(draft.timeout_ms)),
        ("is_active", json!(draft.is_active)),
    ]
}
