//! What looks at the leases do to their rows.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemClock, SystemRng};
use mainstay_store::{Db, Dialect, Sql, StoreError, values};
use mainstay_testkit::{TestDatabase, each_database};

use crate::record::fence;
use crate::shards::look::{Looked, Looker, leave, look};
use crate::shards::record::instances::{self, Load, Shown};
use crate::shards::record::requests::{self, Fate};
use crate::shards::{Instances, Lease, PolledBy, ShardSet, Tenure};

/// One instance, as far as its looks go.
struct One {
    db: Db,
    clock: Arc<dyn Clock>,
    ids: IdSource,
    me: Option<Id>,
    next_id: Id,
}

impl One {
    async fn new(database: &TestDatabase) -> Self {
        let db = database.open_migrated().await;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
        let next_id = ids.next();
        Self { db, clock, ids, me: None, next_id }
    }

    /// Another instance on the same database.
    fn another(&self) -> Self {
        let (db, clock, ids) = (self.db.clone(), Arc::clone(&self.clock), self.ids.clone());
        Self { db, clock, next_id: ids.next(), ids, me: None }
    }

    /// Every instance that is kept.
    async fn shown(&self) -> Vec<Shown> {
        self.db.snapshot(async |snapshot| instances::shown(snapshot).await).await.unwrap()
    }

    async fn look(&mut self) -> Looked {
        self.hand_over(ShardSet::NONE).await
    }

    /// Looks when nothing of these shards is under way any more.
    async fn hand_over(&mut self, drained: ShardSet) -> Looked {
        self.look_as(drained, true).await
    }

    async fn look_as(&mut self, drained: ShardSet, may_bury: bool) -> Looked {
        let looker = Looker {
            me: self.me,
            next_id: self.next_id,
            spare_id: self.ids.next(),
            name: "here",
            version: "1.0.0",
            started_at: None,
            load: Load { services: 3, lag: Duration::from_millis(20) },
            draining: drained,
            drained,
            may_bury,
        };
        let looked: Result<_, StoreError> =
            self.db.write(async |tx| look(tx, &*self.clock, looker).await).await;
        let looked = looked.unwrap();
        if looked.is_new {
            self.next_id = self.ids.next();
        }
        self.me = Some(looked.me);
        looked
    }

    /// Moves what is stored so far back in time.
    async fn age(&self, who: &Self, by: Duration) {
        let sql = Sql::same(
            "test.age",
            "UPDATE instances SET expires_at = expires_at - $2 WHERE id = $1 AND gone_at IS NULL",
        );
        let (me, by) = (who.me.unwrap(), i64::try_from(by.as_millis()).unwrap());
        let aged: Result<_, StoreError> =
            self.db.write(async |tx| tx.execute(&sql, values![me, by]).await).await;
        assert_eq!(aged.unwrap(), 1);
    }

    /// Makes one that has run for a while.
    async fn settle(&self, who: &Self) {
        let sql = Sql::same(
            "test.settle",
            "UPDATE instances SET started_at = started_at - 60000 WHERE id = $1",
        );
        let me = who.me.unwrap();
        let settled: Result<_, StoreError> =
            self.db.write(async |tx| tx.execute(&sql, values![me]).await).await;
        assert_eq!(settled.unwrap(), 1);
    }

    /// Whether a recording under this lease is let through.
    async fn admits(&self, lease: Lease) -> bool {
        let admitted: Result<_, StoreError> = self
            .db
            .write(async |tx| {
                let fence = fence::raise(tx, [Some(lease)].into_iter()).await?;
                Ok(fence.admits(Some(lease)))
            })
            .await;
        admitted.unwrap()
    }
}

fn owned(looked: &Looked) -> usize {
    looked.mine.len()
}

const SECOND: Duration = Duration::from_secs(1);

each_database! {
    async fn the_first_takes_all_and_a_newcomer_gets_its_share(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let looked = first.look().await;
        assert!(looked.is_new);
        assert_eq!(owned(&looked), 64);
        let mut second = first.another();
        assert_eq!(owned(&second.look().await), 0, "all is in good hands");
        assert!(first.look().await.plan.drain.is_empty(), "it may be gone in a moment");
        first.settle(&second).await;
        let handed = first.look().await.plan.drain;
        assert_eq!(handed.len(), 16);
        let looked = first.hand_over(handed).await;
        assert_eq!((owned(&looked), looked.released), (48, handed));
        let looked = second.look().await;
        assert_eq!((owned(&looked), looked.taken.0), (16, handed));
    }

    async fn who_does_not_renew_is_replaced_and_comes_back_as_another(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let before = first.look().await;
        let mut second = first.another();
        second.look().await;
        first.age(&first, SECOND * 9).await;
        assert_eq!(owned(&second.look().await), 0, "its lease has a second left");
        first.age(&first, SECOND * 4).await;
        let looked = second.look().await;
        assert_eq!((owned(&looked), looked.taken.1.len()), (64, 64));
        // What it polled before is late.
        assert!(!first.admits(before.mine[0].lease).await);
        assert!(second.admits(looked.mine[0].lease).await);
        let back = first.look().await;
        assert!(back.is_new && back.me != before.me, "{back:?}");
        assert_eq!(owned(&back), 0);
    }

    async fn after_an_outage_nobody_is_called_lost_before_they_could_renew(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let before = first.look().await;
        let mut second = first.another();
        second.look().await;
        first.age(&first, SECOND * 20).await;
        assert_eq!(owned(&second.look_as(ShardSet::NONE, false).await), 0);
        let after = first.look().await;
        assert_eq!((after.me, owned(&after)), (before.me, 64));
        first.age(&first, SECOND * 20).await;
        assert_eq!(owned(&second.look().await), 64, "this time it did not come");
    }

    async fn who_was_lost_before_it_heard_that_it_had_come_in_comes_in_all_the_same(database: &TestDatabase) {
        let mut first = One::new(database).await;
        first.look().await;
        let mut second = first.another();
        let next_id = second.next_id;
        assert_eq!(second.look().await.me, next_id);
        first.age(&second, SECOND * 20).await;
        // The answer never came, and others have found it dead meanwhile.
        (second.me, second.next_id) = (None, next_id);
        first.look().await;
        let back = second.look().await;
        assert!(back.is_new && back.me != next_id, "{back:?}");
    }

    async fn who_renews_late_but_in_time_keeps_all(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let before = first.look().await;
        first.age(&first, SECOND * 60).await;
        let after = first.look().await;
        assert_eq!((after.me, after.is_new, owned(&after)), (before.me, false, 64));
        assert!(first.admits(before.mine[0].lease).await, "nobody else had it");
    }

    async fn a_release_makes_what_was_begun_late(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let lease = first.look().await.mine[5].lease;
        let only: ShardSet = [lease.shard].into_iter().collect();
        let after = first.hand_over(only).await;
        // Nobody else is there, so it has it again at once, under another generation.
        assert_eq!((owned(&after), after.released), (64, only));
        assert!(!first.admits(lease).await);
    }

    async fn who_leaves_is_replaced_at_once(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let me = first.look().await.me;
        let mut second = first.another();
        second.look().await;
        let left: Result<_, StoreError> = first.db.write(async |tx| leave(tx, me).await).await;
        left.unwrap();
        assert_eq!(owned(&second.look().await), 64);
        let shown = first.shown().await;
        assert_eq!(shown.len(), 2);
        assert_eq!((shown[0].id, shown[1].gone_why.as_deref()), (second.me.unwrap(), Some("stopped")));
        assert_eq!((shown[0].services, shown[0].lag_ms), (3, 20));
    }

    async fn who_polls_a_service_is_the_owner_of_its_shard(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let tenure = Tenure::shared();
        let instances = Instances::new(first.db.clone(), Arc::clone(&first.clock), tenure.clone());
        let asked = "https://orders.example.org/health";
        assert_eq!(instances.polled_by(asked).await.unwrap(), None, "nobody is there");
        let me = first.look().await.me;
        let owner = PolledBy { id: me, name: "here".to_owned(), is_this: false };
        assert_eq!(instances.polled_by(asked).await.unwrap(), Some(owner.clone()));
        tenure.adopt(me, std::iter::empty(), first.clock.moment());
        let this = PolledBy { is_this: true, ..owner };
        assert_eq!(instances.polled_by(asked).await.unwrap(), Some(this));
        let left: Result<_, StoreError> = first.db.write(async |tx| leave(tx, me).await).await;
        left.unwrap();
        assert_eq!(instances.polled_by(asked).await.unwrap(), None);
    }

    async fn what_was_asked_of_one_that_is_lost_is_abandoned(database: &TestDatabase) {
        let mut first = One::new(database).await;
        let me = first.look().await.me;
        let (id, sql) = (first.ids.next(), Sql::same(
            "test.request",
            "INSERT INTO poll_requests (id, service_no, asked_at) VALUES ($1, 1, 1)",
        ));
        let claimed: Result<_, StoreError> = first.db.write(async |tx| {
            tx.execute(&sql, values![id]).await?;
            requests::claim(tx, id, me).await
        }).await;
        assert!(claimed.unwrap());
        assert_eq!(requests::fate(&first.db, id).await.unwrap(), Fate::Claimed);
        let left: Result<_, StoreError> = first.db.write(async |tx| leave(tx, me).await).await;
        left.unwrap();
        assert_eq!(requests::fate(&first.db, id).await.unwrap(), Fate::Abandoned);
    }

    async fn those_that_are_long_gone_are_swept(database: &TestDatabase) {
        let mut first = One::new(database).await;
        first.look().await;
        let sql = Sql::same("test.old", "UPDATE instances SET gone_at = 1, gone_why = 'lost'");
        let old: Result<_, StoreError> = first.db.write(async |tx| tx.execute(&sql, &[]).await).await;
        old.unwrap();
        assert_eq!(owned(&first.look().await), 64);
        assert_eq!(first.shown().await.len(), 1);
    }
}

/// A take-over can't slip in between the look at the generation and the commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_being_recorded_is_not_taken_over_in_between() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let mut first = One::new(&database).await;
    let lease = first.look().await.mine[7].lease;
    let mut second = first.another();
    second.look().await;
    first.age(&first, SECOND * 20).await;
    let recording: Result<_, StoreError> = first
        .db
        .write(async |tx| {
            let fence = fence::raise(tx, [Some(lease)].into_iter()).await?;
            assert!(fence.admits(Some(lease)));
            // The other one looks while this has not been committed, in a task of its own.
            let looking = tokio::spawn(async move {
                let looked = second.look().await;
                (second, looked)
            });
            let (second, looked) = looking.await.unwrap();
            assert_eq!(owned(&looked), 63, "all but the one that is held");
            assert!(!looked.plan.take.without(looked.taken.1).is_empty());
            Ok(second)
        })
        .await;
    let mut second = recording.unwrap();
    assert_eq!(owned(&second.look().await), 64);
    assert!(!first.admits(lease).await);
}

/// One that stands still in the middle of its recording holds nobody up for as long as its lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_that_stands_still_is_ended_by_the_database() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let mut first = One::new(&database).await;
    let lease = first.look().await.mine[7].lease;
    let late: Result<(), StoreError> = first
        .db
        .write(async |tx| {
            fence::raise(tx, [Some(lease)].into_iter()).await?;
            tokio::time::sleep(SECOND * 4).await;
            tx.now().await.map(drop)
        })
        .await;
    assert!(late.is_err());
}

/// A hand-over waits for no recording, and the renewal does not wait with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_being_recorded_is_released_with_the_next_look() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let mut first = One::new(&database).await;
    let mut second = first.another();
    let mine = first.look().await.mine;
    second.look().await;
    first.settle(&second).await;
    let (held, free) = (mine[7].lease, mine[8].lease);
    let (recording, both) = (first.db.clone(), [held.shard, free.shard].into_iter().collect());
    let recorded: Result<_, StoreError> = recording
        .write(async |tx| {
            let fence = fence::raise(tx, [Some(held)].into_iter()).await?;
            assert!(fence.admits(Some(held)));
            let looking = tokio::spawn(async move {
                let looked = first.hand_over(both).await;
                (first, looked)
            });
            let (first, looked) = looking.await.unwrap();
            assert_eq!(looked.released, [free.shard].into_iter().collect());
            assert_eq!(owned(&looked), 63);
            Ok(first)
        })
        .await;
    let mut first = recorded.unwrap();
    let rest: ShardSet = [held.shard].into_iter().collect();
    assert_eq!(first.hand_over(rest).await.released, rest);
}

/// One that is frozen while it leaves holds nobody up either.
#[tokio::test]
async fn whoever_leaves_has_little_time_too() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let mut first = One::new(&database).await;
    let me = first.look().await.me;
    let show = Sql::same(
        "test.patience",
        "SELECT current_setting('idle_in_transaction_session_timeout') AS patience",
    );
    let patience: Result<String, StoreError> = first
        .db
        .write(async |tx| {
            leave(tx, me).await?;
            tx.fetch_one(&show, &[]).await?.get("patience")
        })
        .await;
    assert_eq!(patience.unwrap(), "3s");
}
