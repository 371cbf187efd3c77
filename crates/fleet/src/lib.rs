//! Workers, the machines that run `mainstay agent`, and the nets that are loaded on them.
//!
//! [`providers`] make, start, stop and end machines, wherever they are → [`agents`] ask the program that
//! runs on one.

pub mod agents;
pub mod providers;

pub use agents::{AgentDoor, AgentError, AgentHealth, AgentKey, Agents, NetOrder};
pub use providers::{Machine, Order, Provider, ProviderError, ProviderKind, Providers, Sighting};

/// Gives each metric of the room its help text. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    providers::measure::describe_metrics();
    agents::measure::describe_metrics();
}
