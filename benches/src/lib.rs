//! What the benches share: [`figure`](mod@figure)s to print, [`cpu`] time, a [`process`] to watch, [`load`] to
//! put on it.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

pub mod cpu;
pub mod figure;
pub mod load;
pub mod process;
