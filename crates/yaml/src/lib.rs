//! YAML that people write by hand: `read` reads it within limits, `collect` finds everything that is wrong with
//! its shape, also behind a template without quotes (`bare`), `fault` is why reading failed, `place` knows where something stands.
//!
//! No fault repeats a value of the text: any of them may be a secret.

mod bare;
mod collect;
mod fault;
mod place;
mod read;

pub use collect::{MAX_FAULTS, read_all};
pub use fault::Fault;
pub use place::{Finder, Step, shown};
pub use read::{Limits, Unread, read};
