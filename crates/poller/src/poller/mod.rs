//! A poller: [`task`] polls and decides, [`shared`] is what it and its [`handle`]s know together,
//! [`ledger`] lists those that are active, so that their owner can stop them.

mod handle;
mod ledger;
mod shared;
mod status;
mod task;

pub use handle::Handle;
pub(crate) use ledger::Ledger;
pub use ledger::MAX_POLLERS;
pub(crate) use shared::{Shared, Start};
pub use status::{PollerId, State, Status};
pub(crate) use task::{Budget, Hooks, Rare, Sink, Task, TimeoutHook};
