//! What an answer says of a machine. Pure.

use mainstay_base::replace_nul;
use serde::Deserialize;

use crate::providers::error::{ProviderError, told};
use crate::providers::machine::{Exit, HostStatus, MAX_WORD, Machine, MachineState, Sighting};
use crate::providers::name::MachineName;

/// A machine as Fly tells it; what is not needed is left out.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Told {
    id: String,
    name: String,
    state: String,
    #[serde(default)]
    region: Option<String>,
    #[serde(default)]
    instance_id: Option<String>,
    #[serde(default)]
    private_ip: Option<String>,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    host_status: Option<String>,
    #[serde(default)]
    events: Option<Vec<Event>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Event {
    #[serde(default)]
    request: Option<EventRequest>,
}

#[derive(Debug, Clone, Deserialize)]
struct EventRequest {
    #[serde(default)]
    exit_event: Option<ExitEvent>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct ExitEvent {
    #[serde(default)]
    exit_code: Option<i64>,
    #[serde(default)]
    oom_killed: bool,
    #[serde(default)]
    requested_stop: bool,
}

impl Told {
    /// The machine as it is seen, its agent on this port.
    pub(super) fn sighting(&self, agent_port: u16) -> Result<Sighting, ProviderError> {
        let Some(state) = self.machine_state() else {
            return Err(ProviderError::Gone(format!("it is {}", word(&self.state))));
        };
        let name = MachineName::parse(&self.name).map_err(|_| {
            ProviderError::Invalid(format!("the machine {} is none of ours", word(&self.id)))
        })?;
        let address = self.private_ip.as_deref().and_then(|ip| address(ip, agent_port));
        let run = self.instance_id.as_deref().map(word);
        let region = self.region.as_deref().map(word);
        Ok(Sighting {
            machine: Machine { id: word(&self.id), name, run, address, region },
            state,
            provider_state: word(&self.state),
            host: self.host(),
            exit: self.exit(),
        })
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// What tells the oldest of several.
    pub(super) fn age(&self) -> (&str, &str) {
        (&self.created_at, &self.id)
    }

    /// What it does, or nothing where it is no more.
    fn machine_state(&self) -> Option<MachineState> {
        Some(match self.state.as_str() {
            "started" => MachineState::Running,
            // Nobody asked for it, and Fly will not start it again.
            "stopped" if self.exit().is_some_and(|exit| !exit.requested) => MachineState::Failed,
            "stopped" => MachineState::Stopped,
            "suspended" => MachineState::Asleep,
            "failed" | "launch_failed" => MachineState::Failed,
            "stopping" | "suspending" => MachineState::Stopping,
            "destroying" => MachineState::Leaving,
            "destroyed" | "replaced" | "migrated" => return None,
            // created, creating, starting, restarting, updating, replacing, and whatever comes.
            _ => MachineState::Starting,
        })
    }

    fn host(&self) -> HostStatus {
        match self.host_status.as_deref() {
            None | Some("ok") => HostStatus::Ok,
            Some("unreachable") => HostStatus::Unreachable,
            Some(_) => HostStatus::Unknown,
        }
    }

    /// Its last exit: events come newest first.
    fn exit(&self) -> Option<Exit> {
        let events = self.events.iter().flatten();
        let exit = events.filter_map(|event| event.request.as_ref()?.exit_event).next()?;
        Some(Exit {
            code: exit.exit_code,
            oom_killed: exit.oom_killed,
            requested: exit.requested_stop,
        })
    }
}

fn address(ip: &str, port: u16) -> Option<String> {
    let ip = ip.parse().ok()?;
    Some(format!("http://{}", std::net::SocketAddr::new(ip, port)))
}

fn word(text: &str) -> String {
    told(&replace_nul(text)).chars().take(MAX_WORD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn told_as(change: &Value) -> Result<Sighting, ProviderError> {
        let mut machine = json!({
            "id": "d8912", "name": "mainstay-a-1", "state": "started", "region": "fra",
            "instance_id": "01J", "private_ip": "fdaa:0:1::2", "created_at": "2026-01-01T00:00:00Z",
            "host_status": "ok", "events": [], "config": { "image": "x" },
        });
        for (key, value) in change.as_object().unwrap() {
            machine[key] = value.clone();
        }
        serde_json::from_value::<Told>(machine).unwrap().sighting(7374)
    }

    #[test]
    fn every_state_of_fly_is_one_of_ours() {
        use MachineState as S;
        for (state, ours) in [
            ("created", S::Starting),
            ("creating", S::Starting),
            ("starting", S::Starting),
            ("restarting", S::Starting),
            ("updating", S::Starting),
            ("replacing", S::Starting),
            ("started", S::Running),
            ("stopping", S::Stopping),
            ("suspending", S::Stopping),
            ("stopped", S::Stopped),
            ("suspended", S::Asleep),
            ("failed", S::Failed),
            ("launch_failed", S::Failed),
            ("destroying", S::Leaving),
            ("something_new", S::Starting),
        ] {
            let seen = told_as(&json!({ "state": state })).unwrap();
            assert_eq!((seen.state, seen.provider_state.as_str()), (ours, state));
        }
        for state in ["destroyed", "replaced", "migrated"] {
            let gone = told_as(&json!({ "state": state })).unwrap_err();
            assert_eq!(gone, ProviderError::Gone(format!("it is {state}")));
        }
    }

    #[test]
    fn a_crash_is_told_from_a_stop() {
        let exit = |requested: bool, oom: bool| {
            let exit = json!({ "exit_code": 137, "oom_killed": oom, "requested_stop": requested });
            json!([{ "type": "start" }, { "type": "exit", "request": { "exit_event": exit } }])
        };
        let crashed = json!({ "state": "stopped", "events": exit(false, true) });
        let crashed = told_as(&crashed).unwrap();
        assert_eq!(crashed.state, MachineState::Failed);
        let expected = Exit { code: Some(137), oom_killed: true, requested: false };
        assert_eq!(crashed.exit, Some(expected));
        let stopped = told_as(&json!({ "state": "stopped", "events": exit(true, false) }));
        assert_eq!(stopped.unwrap().state, MachineState::Stopped);
    }

    #[test]
    fn the_agent_is_on_the_private_network() {
        let seen = told_as(&json!({})).unwrap();
        assert_eq!(seen.machine.address.as_deref(), Some("http://[fdaa:0:1::2]:7374"));
        let odd = told_as(&json!({ "private_ip": "evil.example/?" })).unwrap();
        assert_eq!(odd.machine.address, None);
    }

    #[test]
    fn a_host_that_is_out_of_reach_is_told_and_what_it_says_is_bounded() {
        let seen = told_as(&json!({ "host_status": "unreachable", "state": "x".repeat(900) }));
        let seen = seen.unwrap();
        assert_eq!(seen.host, HostStatus::Unreachable);
        assert_eq!(seen.provider_state.len(), MAX_WORD);
        assert_eq!(told_as(&json!({ "host_status": "odd" })).unwrap().host, HostStatus::Unknown);
    }
}
