//! Agents as child processes on this host: [`settings`] → `home` (what there is on disk of each) →
//! `child` (a process that is started, and ended by its descriptor) → `provider`.
//!
//! A child lives in a session of its own, so it outlives the server, and is taken over again by the next
//! one: by its card, the time that it was started, and its own authenticated word.

mod child;
mod home;
mod provider;
pub mod settings;

pub use provider::Processes;
pub use settings::ProcessSettings;
