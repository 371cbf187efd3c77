//! A clean-up that overtakes whoever reads.

use std::sync::atomic::{AtomicUsize, Ordering};

use mainstay_base::{SystemClock, SystemRng};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::ask::ResetReason;
use crate::event::Event;
use crate::events::{Events, EventsOptions};
use crate::hub::tests::hub;

const KEPT: u64 = 10;

/// A database, what cleans up in it, and what reads it.
struct House {
    events: Events,
    hub: Hub,
    stop: CancellationToken,
    _database: TestDatabase,
}

impl House {
    async fn new() -> Self {
        let database = TestDatabase::new(Dialect::Sqlite).await;
        let hub = hub(&database).await;
        let options = EventsOptions { kept_count: KEPT, ..EventsOptions::default() };
        let (clock, rng) = (Arc::new(SystemClock::new()), Arc::new(SystemRng));
        let (db, stop) = (hub.tools().db.clone(), CancellationToken::new());
        let started = Events::start(db, options, clock, rng, stop.clone()).await;
        Self { events: started.unwrap().0, hub, stop, _database: database }
    }

    async fn write(&self, count: usize) {
        let event = || Event::new("said", json!({ "number": 1 }).as_object().unwrap()).unwrap();
        let written: Result<(), EventsError> = self
            .events
            .write(async |_tx, outbox| {
                (0..count).try_for_each(|_| Ok(outbox.add(Stream::Org, event())?))
            })
            .await;
        written.unwrap();
    }

    /// Reads while, the first `times`, events are written and others removed after the counters were
    /// read.
    async fn read(&self, ask: &Ask, times: usize) -> Result<History, EventsError> {
        let counted = AtomicUsize::new(0);
        let count = || async {
            let counters = self.hub.counters(ask.counted()).await?.unwrap();
            if counted.fetch_add(1, Ordering::SeqCst) < times {
                self.write(100).await;
                self.events.clean_up().await.unwrap();
            }
            Ok(counters)
        };
        let read = read_by(&self.hub, ask, 5, count).await;
        self.stop.cancel();
        read
    }

    async fn after(&self, seq: i64) -> Ask {
        let counters = self.hub.counters(vec![Stream::Org]).await.unwrap().unwrap();
        let after = format!("{}.{seq}.0", counters.epoch);
        Ask { after: Some(after), ..Ask::default() }
    }
}

#[tokio::test]
async fn whoever_is_overtaken_without_a_place_begins_at_the_new_floor() {
    let house = House::new().await;
    house.write(20).await;
    let history = house.read(&Ask::default(), 1).await.unwrap();
    assert_eq!(history.opening, Opening::Snapshot);
    let seqs: Vec<_> = history.events.iter().map(|event| event.seq).collect();
    assert_eq!((seqs, history.has_more), ((111..=115).collect(), true));
}

#[tokio::test]
async fn whoever_is_overtaken_at_a_place_is_told_to_reset() {
    let house = House::new().await;
    house.write(20).await;
    let ask = house.after(12).await;
    let history = house.read(&ask, 1).await.unwrap();
    assert_eq!(history.opening, Opening::Reset { reason: ResetReason::Floor });
    assert_eq!((history.events.len(), history.position.org_seq), (0, 120));
}

#[tokio::test]
async fn whoever_is_overtaken_again_and_again_is_told_so_in_the_end() {
    let house = House::new().await;
    house.write(20).await;
    let overtaken = house.read(&Ask::default(), MAX_JUDGED).await;
    assert!(matches!(overtaken, Err(EventsError::BelowFloor)), "{overtaken:?}");
}
