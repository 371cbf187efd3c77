//! Where an agent is asked, and who it must be.

use mainstay_base::{Id, Secret};
use url::Url;

use super::key::AgentKey;
use crate::providers::Machine;

/// Where an agent is asked, and who it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDoor {
    /// The worker that it must say it is.
    pub worker: Id,
    /// Its address, without a path.
    pub address: Url,
    /// What it knows us by.
    pub token: Secret<String>,
}

impl AgentDoor {
    /// The agent of a worker on its machine, where that has an address yet.
    #[must_use]
    pub fn of(worker: Id, machine: &Machine, key: &AgentKey) -> Option<Self> {
        let address = Url::parse(machine.address.as_deref()?).ok()?;
        Some(Self { worker, address, token: key.token(&machine.name) })
    }
}
