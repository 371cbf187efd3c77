//! The whole of it at a glance: the [`item`]s of the board, the [`strip`]s of the rows on screen, and the
//! [`wall`] of what everything leans on. `kept` builds each answer once for all who read it.

pub(super) mod blame;
mod boards;
mod error;
pub mod item;
pub mod kept;
pub mod strip;
pub mod wall;

pub(super) use boards::{Boards, heard, seen};
pub use error::BoardError;
pub use item::{Board, BoardCause, BoardItem};
pub use strip::{MAX_STRIPS, Strip, Strips};
pub use wall::{WallFailing, WallGroup, WallReporter, Wallboard};
