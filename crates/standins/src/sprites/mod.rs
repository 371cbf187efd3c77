//! A stand-in for Sprites: the API on loopback, and for each sprite an address where its
//! [agent](crate::agent) is asked. Sprites fall asleep by an idle clock, lose their memory when they go
//! cold, and wake when their address is asked: [`sprite`] (one) → `org` (all of them, and what can be
//! asked) → [`switches`] (what goes wrong) → [`server`].

mod org;
pub mod server;
pub mod sprite;
pub mod switches;

pub use server::{SpriteOptions, SpriteServer};
pub use sprite::{Sprite, Status};
pub use switches::SpriteSwitches;
