//! All SQL of the room.

pub(crate) mod due;
pub(crate) mod journeys;
pub(crate) mod runs;
pub(crate) mod state;
