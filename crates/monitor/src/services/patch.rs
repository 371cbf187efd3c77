//! Some fields of a definition, to be changed.

use mainstay_base::Secret;
use serde_json::Value;

use super::definition::Draft;

/// What to change; what is `None` stays. Where a field may have no value, `Some(None)` takes it away.
#[derive(Debug, Clone, Default)]
pub struct Patch {
    /// Its name.
    pub name: Option<String>,
    /// Whose it is.
    pub team: Option<Option<String>>,
    /// Where to ask.
    pub health_endpoint: Option<String>,
    /// How to read the answer. Another one than `schema` takes the mapping away.
    pub format: Option<String>,
    /// Where in the answer the dependencies stand.
    pub schema_config: Option<Option<Value>>,
    /// How often to ask.
    pub poll_interval_ms: Option<i64>,
    /// How long one request may take.
    pub timeout_ms: Option<i64>,
    /// Further headers of the request.
    pub headers: Option<HeaderPatch>,
    /// Whether it is polled.
    pub is_active: Option<bool>,
}

/// What to change of the headers, whose values nobody can read back.
#[derive(Debug, Clone)]
pub enum HeaderPatch {
    /// Take all of them away.
    Clear,
    /// Set these, and take those without a value away; the others stay.
    Merge(Vec<(String, Option<Secret<String>>)>),
}

impl Patch {
    /// The draft after the change.
    pub(crate) fn apply(self, mut draft: Draft) -> Draft {
        if let Some(format) = self.format {
            // A mapping belongs to the format that it was given for.
            if draft.format.as_ref() != Some(&format) {
                draft.schema_config = None;
            }
            draft.format = Some(format);
        }
        if let Some(config) = self.schema_config {
            draft.schema_config = config;
        }
        if let Some(patch) = self.headers {
            patch.apply(&mut draft);
        }
        draft.name = self.name.unwrap_or(draft.name);
        draft.team = self.team.unwrap_or(draft.team);
        draft.health_endpoint = self.health_endpoint.unwrap_or(draft.health_endpoint);
        draft.poll_interval_ms = self.poll_interval_ms.or(draft.poll_interval_ms);
        draft.timeout_ms = self.timeout_ms.or(draft.timeout_ms);
        draft.is_active = self.is_active.or(draft.is_active);
        draft
    }
}

impl HeaderPatch {
    fn apply(self, draft: &mut Draft) {
        let Self::Merge(changes) = self else {
            draft.headers.clear();
            return;
        };
        // First away, then in: a name that is given twice is there twice, and refused.
        for (name, _) in &changes {
            draft.headers.retain(|(kept, _)| !kept.eq_ignore_ascii_case(name));
        }
        draft.headers.extend(changes.into_iter().filter_map(|(name, value)| Some((name, value?))));
    }
}
