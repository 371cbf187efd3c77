//! What is asked of the program on a machine: [`key`] (how it knows us) → [`door`] (where it is) →
//! [`Agents`], by HTTP the [`client`] → [`answer`] with its [`finding`]s, or [`error`] → [`measure`]. A
//! [`card`] is what an agent on this host leaves for who started it, its [`log`] what it says.

pub mod answer;
pub mod card;
pub mod client;
pub mod door;
pub mod error;
pub mod finding;
pub mod key;
pub mod log;
pub mod measure;

use futures_util::future::BoxFuture;
use mainstay_base::Id;
use serde_json::Value;

pub use answer::{AgentHealth, LoadedNet, NetResult, NetResults};
pub use card::AgentCard;
pub use client::WebAgents;
pub use door::AgentDoor;
pub use error::AgentError;
pub use finding::Finding;
pub use key::AgentKey;

/// What comes of a call, some time.
pub type Asked<'a, T> = BoxFuture<'a, Result<T, AgentError>>;

/// Asks agents: by HTTP, or as a test says. One call is one try, and ends in time.
pub trait Agents: Send + Sync + 'static {
    /// How it is, and what is loaded.
    fn health<'a>(&'a self, door: &'a AgentDoor) -> Asked<'a, AgentHealth>;

    /// Loads a net, in place of an older generation of it. The same once more is fine.
    fn load<'a>(&'a self, door: &'a AgentDoor, net: &'a NetOrder) -> Asked<'a, ()>;

    /// Unloads a net. One that is not loaded is fine.
    fn unload<'a>(&'a self, door: &'a AgentDoor, net: Id, generation: i64) -> Asked<'a, ()>;

    /// What a net found after `after`, oldest first; everything up to `after` may be forgotten there.
    fn results<'a>(&'a self, door: &'a AgentDoor, net: Id, after: u64) -> Asked<'a, NetResults>;
}

/// A net that is to be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetOrder {
    /// Which one.
    pub id: Id,
    /// Which generation of it: an older one than the agent has is refused.
    pub generation: i64,
    /// What it holds.
    pub definition: Value,
}
