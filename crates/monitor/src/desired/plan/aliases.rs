//! Which aliases have to be added, changed or removed.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Plan, change, item};
use crate::aliases::{Alias, AliasEdit, AliasName, CanonicalName};
use crate::desired::check::Wanted;
use crate::desired::current::Current;
use crate::desired::item::{Item, Section};
use crate::desired::view::{Action, FieldChange, PlannedChange};

/// What is done to one alias.
#[derive(Debug, Clone)]
pub(in crate::desired) enum AliasStep {
    /// It is not there yet.
    Add { at: usize, alias: AliasName, canonical: CanonicalName },
    /// It stands for another name.
    Change { at: usize, before: Alias, canonical: CanonicalName },
    /// The document does not name it.
    Remove { before: Alias },
}

impl AliasStep {
    pub(in crate::desired) fn item(&self) -> Item {
        let at = match self {
            Self::Add { at, .. } | Self::Change { at, .. } => Some(*at),
            Self::Remove { .. } => None,
        };
        item(Section::Aliases, at, self.alias())
    }

    /// The reported name.
    pub(in crate::desired) fn alias(&self) -> &str {
        match self {
            Self::Add { alias, .. } => alias.as_str(),
            Self::Change { before, .. } | Self::Remove { before } => &before.alias,
        }
    }

    pub(in crate::desired) fn edit(&self) -> AliasEdit {
        match self {
            Self::Add { alias, canonical, .. } => AliasEdit::Add(alias.clone(), canonical.clone()),
            Self::Change { before, canonical, .. } => {
                AliasEdit::Change(before.clone(), None, Some(canonical.clone()))
            }
            Self::Remove { before } => AliasEdit::Remove(before.clone()),
        }
    }

    pub(super) fn view(&self) -> PlannedChange {
        let (action, before, after) = match self {
            Self::Add { canonical, .. } => (Action::Add, None, Some(canonical.as_str())),
            Self::Change { before, canonical, .. } => {
                (Action::Change, Some(&*before.canonical_name), Some(canonical.as_str()))
            }
            Self::Remove { before } => (Action::Remove, Some(&*before.canonical_name), None),
        };
        let fields = vec![FieldChange::new("canonical_name", text(before), text(after))];
        change(action, "alias", self.alias().to_owned(), fields)
    }
}

fn text(text: Option<&str>) -> Value {
    text.map_or(Value::Null, Value::from)
}

pub(super) fn plan(plan: &mut Plan, current: &Current, wanted: &Wanted, prune: bool) {
    let held: HashMap<&str, &Alias> =
        current.aliases.iter().map(|alias| (alias.alias.as_str(), alias)).collect();
    for (at, one) in wanted.aliases.iter().enumerate() {
        let (alias, canonical) = (one.alias.clone(), one.canonical.clone());
        match held.get(alias.as_str()) {
            None => plan.aliases.push(AliasStep::Add { at, alias, canonical }),
            Some(held) if held.canonical_name == canonical.as_str() => {
                plan.unchanged.aliases = plan.unchanged.aliases.saturating_add(1);
            }
            Some(held) => {
                plan.aliases.push(AliasStep::Change { at, before: (*held).clone(), canonical });
            }
        }
    }
    if prune && !wanted.aliases.is_empty() {
        let named: HashSet<&str> = wanted.aliases.iter().map(|one| one.alias.as_str()).collect();
        let others = current.aliases.iter().filter(|alias| !named.contains(alias.alias.as_str()));
        plan.aliases.extend(others.map(|alias| AliasStep::Remove { before: alias.clone() }));
    }
}
