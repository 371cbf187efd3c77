//! The agent itself, what runs on a worker: [`checks`] (what a net has it do) → [`nets`] (what is loaded
//! and what it found, pure) → [`program`] (runs them, and answers). Its routes are in `http`, its command
//! in `server`.

pub mod checks;
pub mod nets;
pub mod program;

pub use checks::{BadNet, Checker, Checks, Running};
pub use nets::{Loading, Nets, NotDone};
pub use program::{Agent, Identity, Reporter};
