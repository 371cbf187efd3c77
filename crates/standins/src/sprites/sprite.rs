//! One sprite, and how it sleeps.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Moment, Timestamp};
use serde_json::{Value, json};

use crate::agent::Agent;

/// What a sprite does, in its provider's words: there are no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Asleep, and its memory is lost.
    Cold,
    /// Asleep, with its memory.
    Warm,
    /// Awake.
    Running,
}

/// A sprite.
#[derive(Debug, Clone)]
pub struct Sprite {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) auth: String,
    pub(crate) labels: Value,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) active_at: Moment,
    pub(crate) services: BTreeMap<String, Service>,
    pub(crate) wakes: u64,
}

/// A service of a sprite.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    pub(crate) definition: Value,
    pub(crate) is_running: bool,
    pub(crate) agent: Arc<Agent>,
}

impl Status {
    /// The provider's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
            Self::Running => "running",
        }
    }
}

impl Sprite {
    /// The id: another for each sprite, whatever its name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// How often it was woken.
    #[must_use]
    pub const fn wakes(&self) -> u64 {
        self.wakes
    }

    pub(crate) fn status(&self, now: Moment, warm_after: Duration, cold_after: Duration) -> Status {
        match now.since(self.active_at) {
            idle if idle < warm_after => Status::Running,
            idle if idle < cold_after => Status::Warm,
            _ => Status::Cold,
        }
    }

    /// Something happens on it: if it sleeps it wakes, and from the cold with nothing in memory.
    pub(crate) fn touch(&mut self, status: Status, now: Moment) {
        if status != Status::Running {
            self.wakes = self.wakes.saturating_add(1);
        }
        if status == Status::Cold {
            self.services.values().for_each(|service| service.agent.reboot());
        }
        self.active_at = now;
    }

    pub(crate) fn json(&self, status: Status) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "organization": "standin",
            "url": self.url,
            "url_settings": { "auth": self.auth },
            "labels": self.labels,
            "status": status.name(),
            "created_at": self.created_at.to_string(),
            "updated_at": self.updated_at.to_string(),
        })
    }
}

impl Service {
    pub(crate) fn json(&self, name: &str) -> Value {
        let status = if self.is_running { "running" } else { "stopped" };
        let mut shown = self.definition.clone();
        if let Some(fields) = shown.as_object_mut() {
            fields.insert("name".to_owned(), json!(name));
            let state = json!({ "name": name, "status": status, "restart_count": 0 });
            fields.insert("state".to_owned(), state);
        }
        shown
    }
}
