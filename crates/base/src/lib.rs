//! What every room stands on, without I/O: [`clock`] → [`time`] → [`rng`] → [`id`] → [`text`] →
//! [`secret`]; [`place`] for pages of lists, [`nearest()`] for names that were probably meant.
//!
//! The real clock and the real randomness live here and nowhere else, so that every other crate
//! takes them as arguments and every test can move the one and repeat the other.

pub mod clock;
pub mod id;
mod nearest;
pub mod place;
pub mod rng;
pub mod secret;
pub mod text;
pub mod time;

pub use clock::{Clock, SystemClock};
pub use id::{Id, IdError, IdSource};
pub use nearest::nearest;
pub use place::{BadPlace, Part, Place, Placed};
pub use rng::{Rng, SystemRng};
pub use secret::Secret;
pub use text::{BoundedText, PlainText, TextError, is_hidden, replace_nul};
pub use time::{Moment, Timestamp};
