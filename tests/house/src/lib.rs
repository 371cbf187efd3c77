//! The rules of the house as pure functions: [`arrows`] between crates, [`names`] that may stand
//! only in one room, [`docs`] that must stay true. `tests/` runs them over the repository.

pub mod arrows;
pub mod docs;
pub mod names;
pub mod source;
