//! A poller: [`task`] polls, [`hooks`] are what its caller hung into it, [`shared`] is what it and its [`handle`]s know together,
//! [`ledger`] lists those that are active, so that their owner can stop them.

mod handle;
mod hooks;
mod ledger;
mod shared;
mod status;
mod task;

pub use handle::Handle;
pub(crate) use hooks::{Budget, Hooks, Rare, TimeoutHook};
pub(crate) use ledger::Ledger;
pub use ledger::MAX_POLLERS;
pub(crate) use shared::{Shared, Start};
pub use status::{PollerId, State, Status};
pub(crate) use task::{Sink, Task};
