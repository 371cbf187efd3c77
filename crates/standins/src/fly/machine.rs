//! One machine, and what it says of itself.

use mainstay_base::Timestamp;
use serde_json::{Value, json};

use super::lease::Lease;

/// The most events that are kept.
const MAX_EVENTS: usize = 20;

/// What a machine does, in Fly's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Made, and not started.
    Created,
    /// On its way up.
    Starting,
    /// It runs.
    Started,
    /// On its way down.
    Stopping,
    /// It does not run.
    Stopped,
    /// It could not be started.
    Failed,
    /// On its way out.
    Destroying,
    /// It is no more.
    Destroyed,
}

/// A machine.
#[derive(Debug, Clone)]
pub struct Machine {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) region: String,
    pub(crate) instance_id: String,
    pub(crate) version: u64,
    pub(crate) private_ip: String,
    pub(crate) config: Value,
    pub(crate) state: State,
    /// How often it is read before it gets on.
    pub(crate) reads_left: u32,
    /// How many starts are refused although it says that it is stopped.
    pub(crate) lingering: u32,
    pub(crate) restarts: u64,
    pub(crate) lease: Option<Lease>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) events: Vec<Value>,
    /// How often its program was started.
    pub(crate) boots: u64,
}

impl State {
    /// Fly's word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Starting => "starting",
            Self::Started => "started",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Destroying => "destroying",
            Self::Destroyed => "destroyed",
        }
    }
}

impl Machine {
    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Its metadata.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.config.get("metadata")?.get(key)?.as_str()
    }

    /// It is another from now on, for so many reads if it is one that passes.
    pub(crate) fn become_(&mut self, state: State, reads: u32, now: Timestamp) {
        if state == State::Started {
            self.boots = self.boots.saturating_add(1);
        }
        self.state = state;
        self.reads_left = reads;
        self.updated_at = now;
    }

    /// It is read: what passes gets on.
    pub(crate) fn read(&mut self, now: Timestamp) {
        if let Some(left) = self.reads_left.checked_sub(1) {
            self.reads_left = left;
            return;
        }
        match self.state {
            State::Created | State::Starting => {
                self.become_(State::Started, 0, now);
                self.tell("start", "started", &Value::Null, now);
            }
            State::Stopping => self.become_(State::Stopped, 0, now),
            State::Destroying => self.become_(State::Destroyed, 0, now),
            _ => {}
        }
    }

    /// Something happened to it.
    pub(crate) fn tell(&mut self, kind: &str, status: &str, request: &Value, now: Timestamp) {
        let event = json!({
            "type": kind,
            "status": status,
            "source": "flyd",
            "timestamp": now.as_millis(),
            "request": request,
        });
        self.events.insert(0, event);
        self.events.truncate(MAX_EVENTS);
    }

    /// Its program ended.
    pub(crate) fn exit(&mut self, code: i64, oom_killed: bool, requested: bool, now: Timestamp) {
        let exit = json!({
            "exit_code": code,
            "guest_exit_code": code,
            "guest_signal": if oom_killed { 9 } else { -1 },
            "oom_killed": oom_killed,
            "requested_stop": requested,
            "restarting": false,
            "signal": -1,
            "exited_at": now.to_string(),
        });
        let request = json!({ "exit_event": exit, "restart_count": self.restarts });
        self.tell("exit", "stopped", &request, now);
    }

    /// What the API says of it.
    pub(crate) fn json(&self, is_unreachable: bool) -> Value {
        let config = if is_unreachable { "incomplete_config" } else { "config" };
        json!({
            "id": self.id,
            "name": self.name,
            "state": self.state.name(),
            "region": self.region,
            "instance_id": self.instance_id,
            "version": self.version,
            "private_ip": self.private_ip,
            "created_at": self.created_at.to_string(),
            "updated_at": self.updated_at.to_string(),
            "image_ref": { "registry": "registry.fly.io", "repository": "standin", "tag": "latest" },
            config: self.config,
            "events": self.events,
            "checks": [],
            "host_status": if is_unreachable { "unreachable" } else { "ok" },
            "cordoned": false,
        })
    }
}
