//! What a plan shows: no value of a header, and no id.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::document::DesiredLink;

/// What has to change, what waits, and how much is as it should be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ServicesPlan)]
pub struct PlanView {
    /// What has to change: services, then aliases, then links.
    pub changes: Vec<PlannedChange>,
    /// Links of dependencies that nobody has reported yet: they can't be made now. Apply again when
    /// they were.
    pub waiting: Vec<DesiredLink>,
    /// How much of the document is as it should be.
    pub unchanged: Tally,
}

/// What came of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ServicesApplied)]
pub struct Applied {
    /// Whether anything was changed.
    pub applied: bool,
    /// What was changed, or would be.
    pub plan: PlanView,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlannedChange {
    /// What is done.
    pub action: Action,
    /// What it is done to: `service`, `alias` or `link`.
    #[schema(example = "service")]
    pub kind: String,
    /// Its name; of a link, those of the service and the dependency.
    #[schema(example = "Orders")]
    pub name: String,
    /// The fields that change. Of a service that is added there are none; of one that is removed,
    /// `links` tells how many links lead to it and go with it.
    pub fields: Vec<FieldChange>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PlannedAction)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is not there yet.
    Add,
    /// It is otherwise.
    Change,
    /// The document does not name it.
    Remove,
}

/// One field that changes. Of a header it is only told that there was or will be a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PlannedField)]
pub struct FieldChange {
    /// The field, such as `poll_interval_ms` or `headers.Authorization`.
    #[schema(example = "poll_interval_ms")]
    pub field: String,
    /// What it is.
    #[schema(example = 30_000)]
    pub before: Value,
    /// What it will be.
    #[schema(example = 60_000)]
    pub after: Value,
}

/// How many of each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = PlannedTally)]
pub struct Tally {
    /// Services.
    pub services: usize,
    /// Aliases.
    pub aliases: usize,
    /// Links.
    pub links: usize,
}

impl PlanView {
    /// How many changes of this kind there are.
    #[must_use]
    pub fn count(&self, action: Action) -> usize {
        self.changes.iter().filter(|change| change.action == action).count()
    }
}

impl FieldChange {
    pub(super) fn new(
        field: impl Into<String>,
        before: impl Into<Value>,
        after: impl Into<Value>,
    ) -> Self {
        Self { field: field.into(), before: before.into(), after: after.into() }
    }
}
