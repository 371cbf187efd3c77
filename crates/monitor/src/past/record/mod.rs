//! All SQL of the past.

pub(super) mod changes;
pub(super) mod keyframes;
pub(super) mod live;
#[cfg(test)]
mod plans;
pub(super) mod turns;
