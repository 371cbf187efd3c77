//! Fly Machines: [`settings`] → `order` (what a machine is made of) → `calls` (one question each) →
//! `reading` (what an answer says of a machine), `lease` (whose a hold on it is), `refusal` (what a no means) →
//! `provider`.

mod calls;
mod lease;
mod order;
mod provider;
mod reading;
mod refusal;
pub mod settings;

pub use provider::Fly;
pub use settings::{FlyPace, FlySettings};
