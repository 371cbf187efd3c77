//! Writes results down: many in one transaction, state and events together, and only then are they
//! announced.
//!
//! Results wait in a bounded `queue` → a `batch` of them is compared with what is known and written →
//! who waits for one is told. A database in trouble loses nothing: the batch is tried again. `parts`
//! tells it from a result that can't be written.

mod batch;
mod health;
mod measure;
mod parts;
mod queue;
mod task;

use std::sync::Arc;

use mainstay_base::{Clock, IdSource, Timestamp};
use mainstay_events::Events;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::health::RecorderHealth;
pub use self::measure::{METRIC_BUCKETS, describe_metrics};
use self::queue::Queue;
use self::task::Task;
use crate::roster::Circuit;
use crate::shards::ShardSet;
use crate::sink::{PollResult, Sink};

/// The recorder of this process. A clone is the same one.
#[derive(Debug, Clone)]
pub struct Recorder {
    queue: Arc<Queue>,
    ended: CancellationToken,
}

impl Recorder {
    /// Starts recording. It ends with `stop`, after what waits by then is written, if the database
    /// takes it.
    #[must_use]
    pub fn start(
        events: Events,
        clock: Arc<dyn Clock>,
        ids: IdSource,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let queue = Arc::new(Queue::default());
        let ended = CancellationToken::new();
        let task = Task::new(Arc::clone(&queue), events, clock, ids, stop, ended.clone());
        tasks.spawn(task.run());
        Self { queue, ended }
    }

    /// Is cancelled when it has ended: nothing is recorded after that.
    #[must_use]
    pub fn ended(&self) -> CancellationToken {
        self.ended.clone()
    }

    /// How recording goes.
    #[must_use]
    pub fn health(&self) -> RecorderHealth {
        self.queue.health()
    }
}

impl Sink for Recorder {
    fn take(&self, result: PollResult) {
        self.queue.push(result);
    }

    fn take_circuit(&self, circuit: &Circuit, at: Timestamp) {
        self.queue.push_circuit(circuit.clone(), at);
    }

    fn has_room(&self) -> bool {
        self.queue.has_room()
    }

    fn unrecorded(&self, shards: ShardSet) -> ShardSet {
        self.queue.unrecorded(shards)
    }
}
