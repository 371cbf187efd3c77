//! How everything was at a moment.
//!
//! What changes is written down with the state that it changes. A moment is therefore the newest
//! keyframe before it (`pack`ed whole states, which [`keyframes`], a job, makes every day) and the
//! changes since, which [`replay`](mod@replay) (pure) applies to it. [`Past`] reads both by `record`
//! (all SQL). [`telling`] puts a span of it into words, with
//! the root causes (`roots`) at the `moments` at which something fell.
//!
//! # The invariant
//! A change names the whole new value of one facet of one thing (a name, a status, a link, …), and is
//! numbered while its writer holds the row of that thing: the changes of a facet are numbered in the
//! order of their commits. So whatever was applied before may be applied again, as long as all that
//! followed it is applied too, and a keyframe does not have to know where exactly it stands among the
//! changes: it is enough to begin before it. On PostgreSQL numbers of *different* things are not in the
//! order of commits, so a keyframe begins with a mark, the highest number that can be seen, and is taken
//! [`SETTLE`](keyframes::SETTLE) later, when nobody who took a lower number is still writing.

mod change;
mod handle;
pub mod history;
pub mod keyframes;
mod moments;
mod pack;
mod record;
pub mod replay;
mod roots;
pub mod state;
pub mod telling;
pub mod uptime;

pub use change::Change;
pub use handle::{Past, PastError};
pub use history::{Asked, HistoryItem, HistoryPage};
pub use keyframes::Keyframes;
pub use replay::replay;
pub use state::{PastDependency, PastMoment, PastService, PastState};
pub use telling::{Telling, Told};
pub use uptime::{Uptime, UptimeWindow};
