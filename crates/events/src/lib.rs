//! Ordered, gapless streams of events: everybody learns of a change the moment it is committed, with
//! nothing lost, doubled or out of order, on one instance or several.
//!
//! The way of an event: [`event`] is made and checked → [`outbox`] collects those of a write, takes
//! their numbers last and inserts them → the write commits ([`events`] is the handle to all of it) →
//! [`doorbell`] rings, here and in other instances → the hub reads each followed stream once, into a
//! ring of framed bytes → [`feed`] gives every follower each event once, from the place that its
//! [`ask`] and [`position`] name.
//!
//! Beside it: [`connections`] counts who is connected, [`history`] gives past events in pages, the sweep finds what no bell told of, the
//! retention removes what is too old, SQL stands in `record`, [`error`] says what went wrong.

pub mod ask;
mod backoff;
pub mod connections;
pub mod doorbell;
pub mod error;
pub mod event;
pub mod events;
pub mod feed;
mod frame;
pub mod history;
mod hub;
mod measure;
pub mod outbox;
pub mod position;
mod record;
mod retention;
pub mod stream;
mod sweep;
mod tools;
mod trouble;

pub use ask::{Ask, Kinds, KindsError, Opening, ResetReason, Streams};
pub use connections::{Connections, Ending, Entered, Membership, Owner};
pub use doorbell::{Doorbell, Ears, Heard, Topic};
pub use error::{EventError, EventsError};
pub use event::Event;
pub use events::{Events, EventsOptions, EventsTasks};
pub use feed::{Delivery, Feed};
pub use history::History;
pub use measure::{DELIVERY_LAG, METRIC_BUCKETS, describe_metrics};
pub use outbox::Outbox;
pub use position::{Position, PositionError};
pub use record::between::PastEvent;
pub use stream::Stream;
