//! Fly Machines: [`settings`] → `order` (what a machine is made of) → `calls` (one question each) →
//! `reading` (what an answer says of a machine), `refusal` (what a no means) → `provider`.

mod calls;
mod order;
mod provider;
mod reading;
mod refusal;
pub mod settings;

pub use provider::Fly;
pub use settings::{FlyPace, FlySettings};
