//! The fleet by the real binary: real agents, stand-ins for providers, and a real follower of events.

mod crashes;
mod elsewhere;
mod follower;
mod guide;
mod house;
mod leftovers;
mod lies;
mod restarts;
mod settings;
