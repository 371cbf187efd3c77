//! What becomes of a service's headers, whose values are told to nobody.

use mainstay_base::Secret;
use serde_json::Value;

use crate::desired::error::Refusal;
use crate::desired::view::FieldChange;
use crate::services::headers::Header;
use crate::services::{HeaderPatch, Held};

/// A value that there is, and one that takes its place.
const SET: &str = "set";
const CHANGED: &str = "changed";

/// A header that is wanted; without a value, the stored one is kept.
type Wanted = (String, Option<Secret<String>>);

/// What becomes of the headers.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// All of them, as far as they can be read.
    pub(super) after: Vec<Header>,
    pub(super) fields: Vec<FieldChange>,
    /// `None` when they stay as they are.
    pub(super) patch: Option<HeaderPatch>,
}

/// The headers of a service that is not there yet.
pub(super) fn of_new(wanted: &[Wanted]) -> Result<Vec<Header>, Refusal> {
    let given = wanted.iter().map(|(name, value)| {
        let value = value.clone().ok_or_else(|| Refusal::NoHeader { header: name.clone() })?;
        Ok((name.clone(), value))
    });
    given.collect()
}

/// Compares the headers of a service with those that are wanted.
pub(super) fn compare(held: &Held, wanted: &[Wanted]) -> Result<Comparison, Refusal> {
    match &held.sealed {
        Some(names) => sealed(names, wanted),
        None => open(&held.draft.headers, wanted),
    }
}

fn open(held: &[Header], wanted: &[Wanted]) -> Result<Comparison, Refusal> {
    let mut comparison = Comparison::default();
    let mut edits = Vec::new();
    for (name, value) in wanted {
        let stored = held.iter().find(|(held, _)| held.eq_ignore_ascii_case(name));
        match (value, stored) {
            (None, None) => return Err(Refusal::NoHeader { header: name.clone() }),
            // In another case it is the same header.
            (None, Some(stored)) => comparison.after.push(stored.clone()),
            (Some(value), Some(stored)) if *value == stored.1 => {
                comparison.after.push(stored.clone());
            }
            (Some(value), stored) => {
                let told = match stored {
                    Some(_) => field(name, SET.into(), CHANGED.into()),
                    None => field(name, Value::Null, SET.into()),
                };
                comparison.fields.push(told);
                comparison.after.push((name.clone(), value.clone()));
                edits.push((name.clone(), Some(value.clone())));
            }
        }
    }
    for (name, _) in held {
        if !wanted.iter().any(|(wanted, _)| wanted.eq_ignore_ascii_case(name)) {
            comparison.fields.push(field(name, SET.into(), Value::Null));
            edits.push((name.clone(), None));
        }
    }
    comparison.patch = (!edits.is_empty()).then_some(HeaderPatch::Merge(edits));
    Ok(comparison)
}

/// Headers that can't be opened are kept as they are, or replaced, all of them.
fn sealed(names: &[String], wanted: &[Wanted]) -> Result<Comparison, Refusal> {
    let is_kept = |name: &str| wanted.iter().any(|(wanted, _)| wanted.eq_ignore_ascii_case(name));
    let keeps_all = wanted.len() == names.len()
        && wanted.iter().all(|(_, value)| value.is_none())
        && names.iter().all(|name| is_kept(name));
    if keeps_all {
        return Ok(Comparison::default());
    }
    let mut comparison = Comparison::default();
    for (name, value) in wanted {
        let Some(value) = value else {
            let is_stored = names.iter().any(|stored| stored.eq_ignore_ascii_case(name));
            let header = name.clone();
            return Err(if is_stored {
                Refusal::SealedHeader { header }
            } else {
                Refusal::NoHeader { header }
            });
        };
        comparison.fields.push(field(name, SET.into(), CHANGED.into()));
        comparison.after.push((name.clone(), value.clone()));
    }
    for name in names.iter().filter(|name| !is_kept(name)) {
        comparison.fields.push(field(name, SET.into(), Value::Null));
    }
    comparison.patch = Some(if wanted.is_empty() {
        HeaderPatch::Clear
    } else {
        HeaderPatch::Merge(wanted.to_vec())
    });
    Ok(comparison)
}

fn field(name: &str, before: Value, after: Value) -> FieldChange {
    FieldChange::new(format!("headers.{name}"), before, after)
}
