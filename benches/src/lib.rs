//! What the benches share: [`figure`](mod@figure)s to print, a [`process`] to watch, [`load`] to put on it.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

pub mod figure;
pub mod load;
pub mod process;
