//! The hub and the epoch of its database.

use std::sync::Arc;

use mainstay_base::{IdSource, SystemClock, SystemRng};
use mainstay_store::Dialect;
use mainstay_testkit::TestDatabase;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::record::epoch;
use crate::record::follow::Reads;

pub(crate) async fn hub(database: &TestDatabase) -> Hub {
    let (clock, rng) = (Arc::new(SystemClock::new()), Arc::new(SystemRng));
    let instance = IdSource::new(Arc::clone(&clock) as _, Arc::clone(&rng) as _).next();
    let db = database.open_migrated().await;
    let epoch = epoch::find_or_create(&db, &SystemRng).await.unwrap();
    let (reads, tasks, stop) = (Reads::default(), TaskTracker::new(), CancellationToken::new());
    Hub::new(Tools { db, clock, rng, instance, reads, tasks, stop }, &epoch)
}

async fn read(hub: &Hub) -> Counters {
    follow::counters(&hub.tools().db, &hub.tools().reads, &[Stream::Org]).await.unwrap()
}

#[tokio::test]
async fn a_read_that_began_before_the_new_epoch_does_not_bring_the_old_one_back() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let hub = hub(&database).await;
    let late = read(&hub).await;
    let old = Arc::clone(&late.epoch);
    assert!(hub.is_of_epoch(&late));
    epoch::renew(&hub.tools().db, &SystemRng).await.unwrap();
    let new = read(&hub).await;
    assert!(!hub.is_of_epoch(&new), "it begins");
    assert!(hub.is_of_epoch(&new));
    let following = hub.follow(Stream::Org);
    assert!(!hub.is_of_epoch(&late));
    assert!(hub.is_of_epoch(&new), "nothing has changed");
    assert_eq!(following.tip.borrow().end, None);
    // Whoever brings the old database back is believed.
    let mut back = read(&hub).await;
    back.epoch = old;
    assert!(!hub.is_of_epoch(&back));
    assert!(hub.is_of_epoch(&back));
    assert_eq!(following.tip.borrow().end, Some(End::EpochChanged));
    hub.tools().stop.cancel();
}
