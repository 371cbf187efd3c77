//! Sprites: [`settings`] → `service` (how the agent runs there) → `calls` (one question each) →
//! `reading` (what an answer says of a sprite), `refusal` (what a no means) → `provider`.
//!
//! There is no stop: a sprite falls asleep by itself, and asking its agent wakes (and bills) it. So
//! stopped means here that the agent's service is, and the API is always asked first.

mod calls;
mod provider;
mod reading;
mod refusal;
mod service;
pub mod settings;

pub use provider::Sprites;
pub use settings::SpriteSettings;
