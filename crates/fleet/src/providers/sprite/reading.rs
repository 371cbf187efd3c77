//! What an answer says of a sprite. Pure.

use mainstay_base::replace_nul;
use serde::Deserialize;
use url::Url;

use crate::providers::error::{ProviderError, told};
use crate::providers::machine::{HostStatus, MAX_WORD, Machine, MachineState, Sighting};
use crate::providers::name::MachineName;

/// A sprite as it is told; what is not needed is left out.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Told {
    #[serde(default)]
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    status: String,
}

/// A page of a list.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Page {
    pub(super) sprites: Vec<Told>,
    #[serde(default)]
    pub(super) has_more: bool,
    #[serde(default)]
    pub(super) next_continuation_token: Option<String>,
}

/// A service as it is told.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Service {
    #[serde(default)]
    state: Option<ServiceState>,
    #[serde(default)]
    status: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct ServiceState {
    #[serde(default)]
    status: Option<String>,
}

impl Told {
    pub(super) fn is_running(&self) -> bool {
        self.status == "running"
    }

    /// The sprite as it is seen; of one that runs, its service says more.
    pub(super) fn sighting(&self, service: Option<&Service>) -> Result<Sighting, ProviderError> {
        let name = MachineName::parse(&self.name)
            .map_err(|_| ProviderError::Invalid("the sprite is none of ours".to_owned()))?;
        let state = match self.status.as_str() {
            "running" => service.map_or(MachineState::Stopped, Service::machine_state),
            "cold" => MachineState::Cold,
            // Whatever else comes must not be woken.
            _ => MachineState::Asleep,
        };
        let (id, run) = (word(&self.id), None);
        Ok(Sighting {
            machine: Machine { id, name, run, address: self.address(), region: None },
            state,
            provider_state: word(&self.status),
            host: HostStatus::Ok,
            exit: None,
        })
    }

    fn address(&self) -> Option<String> {
        let url = Url::parse(self.url.as_deref()?).ok()?;
        let is_fit = matches!(url.scheme(), "http" | "https") && url.has_host();
        is_fit.then(|| url.as_str().trim_end_matches('/').to_owned())
    }
}

impl Service {
    pub(super) fn status(&self) -> &str {
        let inner = self.state.as_ref().and_then(|state| state.status.as_deref());
        inner.or(self.status.as_deref()).unwrap_or_default()
    }

    fn machine_state(&self) -> MachineState {
        match self.status() {
            "running" => MachineState::Running,
            "stopping" => MachineState::Stopping,
            "stopped" => MachineState::Stopped,
            "failed" => MachineState::Failed,
            _ => MachineState::Starting,
        }
    }
}

fn word(text: &str) -> String {
    told(&replace_nul(text)).chars().take(MAX_WORD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(status: &str, service: Option<&str>) -> Sighting {
        let sprite = json!({ "id": "u-1", "name": "mainstay-a-1", "status": status,
            "url": "https://mainstay-a-1-xyz.sprites.app/", "organization": "o" });
        let told: Told = serde_json::from_value(sprite).unwrap();
        let service = service.map(|status| {
            let state = json!({ "name": "s", "state": { "status": status, "restart_count": 1 } });
            serde_json::from_value::<Service>(state).unwrap()
        });
        told.sighting(service.as_ref()).unwrap()
    }

    #[test]
    fn the_three_states_of_a_sprite_and_those_of_its_service() {
        use MachineState as S;
        for (status, service, state) in [
            ("cold", None, S::Cold),
            ("warm", None, S::Asleep),
            ("something_new", None, S::Asleep),
            ("running", Some("running"), S::Running),
            ("running", Some("starting"), S::Starting),
            ("running", Some("stopping"), S::Stopping),
            ("running", Some("stopped"), S::Stopped),
            ("running", Some("failed"), S::Failed),
            ("running", None, S::Stopped),
        ] {
            assert_eq!(seen(status, service).state, state, "{status} {service:?}");
        }
    }

    #[test]
    fn the_agent_is_at_the_sprites_address() {
        let address = seen("warm", None).machine.address;
        assert_eq!(address.as_deref(), Some("https://mainstay-a-1-xyz.sprites.app"));
    }
}
