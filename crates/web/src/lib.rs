//! The dashboard as part of the binary: `build.rs` builds `ui/`, this crate holds the result.
//!
//! It knows no HTTP: it gives out bytes with what is needed to serve them, and the `http` crate
//! serves them.

mod embed;

pub use embed::{Asset, all, built, find, index};
