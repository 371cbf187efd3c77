//! Ordered, gapless streams of events: everybody learns of a change the moment it is committed, with
//! nothing lost, doubled or out of order, on one instance or several.
//!
//! The way of an event: [`event`] is made and checked → [`outbox`] collects those of a write, takes
//! their numbers last and inserts them → [`doorbell`] rings after the commit, here and in other
//! instances. [`events`] is the handle to all of it; SQL stands in `record`.

pub mod doorbell;
pub mod error;
pub mod event;
pub mod events;
pub mod outbox;
mod record;
pub mod stream;

pub use doorbell::{Doorbell, Ears, Heard, Topic};
pub use error::{EventError, EventsError};
pub use event::Event;
pub use events::{Events, EventsOptions, EventsTasks};
pub use outbox::Outbox;
pub use stream::Stream;
