//! What the benches share: an [`account`] to sign in with, [`figure`](mod@figure)s to print, [`cpu`] time, a [`process`] to watch, a [`cluster`] of
//! PostgreSQL, [`load`] to put on it, the [`memory`] that many take, an [`exchange`](mod@exchange) of one request, and as many open
//! [`descriptors`] as there can be.
#![expect(clippy::disallowed_methods, reason = "a bench measures the real clock")]

pub mod account;
pub mod cluster;
pub mod cpu;
pub mod descriptors;
pub mod exchange;
pub mod figure;
pub mod load;
pub mod memory;
pub mod process;
