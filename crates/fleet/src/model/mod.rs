//! What the fleet holds: [`status`] (where a worker and a net stand, and where they may go), [`operation`]
//! (what is being done to one), [`worker`], [`net`], [`crew`] (a worker with its nets, and the rules
//! that bind them), and [`location`] (how something is, seen from a worker).

pub mod crew;
pub mod location;
pub mod net;
pub mod operation;
pub mod status;
pub mod worker;

pub use crew::{Broken, Crew};
pub use location::{CheckKind, LocationChange, LocationStatus, PlannedCheck, SeenLocation};
pub use net::{DefinedNet, Definition, Net, NetName};
pub use operation::{Ended, Failure, FailureCode, NetOperation, Underway, WorkerOperation};
pub use status::{LoadState, UnknownWord, WorkerStatus};
pub use worker::{Category, Worker, WorkerName};
