//! A stand-in for Fly Machines: the API on loopback, with its limits, its slowness and its lies. Each
//! machine has an address of its own (127.31.…) where its [agent](crate::agent) is asked: [`limits`] →
//! [`machine`] (one, and what it says of itself) → `app` (all of them, and what can be asked) →
//! [`switches`] (what goes wrong) → [`ErrorShape`] (how it says so) → [`server`].

mod app;
mod lease;
pub mod limits;
pub mod machine;
pub mod server;
mod shape;
pub mod switches;

pub use server::{FlyOptions, FlyServer};
pub use shape::ErrorShape;
pub use switches::Switches;
