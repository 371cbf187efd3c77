//! Stand-ins for the world outside: for the demo and for tests.
//!
//! A simulated [`company`] (who there is and what leans on what) → the [`story`] (what happens to it and
//! when, by a seed) → the [`world`] (how everything is at one moment, with [`noise`]) → the [`answer`](mod@answer) of
//! each health endpoint, in the words of its framework → [`serve`] (real endpoints on loopback, by the
//! clock of the [`director`], which may [`hurry`]). Everything but the last step is pure: the same seed and
//! the same moment make the same world.
//!
//! Beside it the call about an incident ([`call`]), the provider of a language model ([`llm`]), a payment
//! service ([`payments`]), and providers of machines: [`fly`], [`sprites`], and the [`agent`] that runs on what
//! they provide. A [`door`] is where they are asked.

pub mod agent;
pub mod answer;
pub mod call;
pub mod company;
pub mod director;
pub mod door;
pub mod fly;
pub mod hurry;
pub mod llm;
pub mod noise;
pub mod payments;
mod said;
pub mod serve;
pub mod sprites;
pub mod story;
pub mod world;

pub use answer::{Answer, answer};
pub use call::Call;
pub use company::{ALIASES, Alias, SERVICES, Service, THINGS, Thing, Wire};
pub use director::{Director, Pace, Telling};
pub use serve::{Company, Endpoint};
pub use story::{Act, Happening, Story};
pub use world::{Grade, Manner, World};
