//! Only who owns a shard records what was polled in it.

use std::sync::Arc;

use mainstay_monitor::shards::{Lease, Shard, ShardSet};
use mainstay_monitor::{Recorded, Recorder, Sink, Watch};
use mainstay_store::values;
use mainstay_testkit::each_database;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::house::{House, down, up};

impl House {
    /// The shard of all services here is owned under this generation from now on.
    async fn owned_under(&self, generation: i64) {
        let sql = "UPDATE poll_shards SET generation = $1 WHERE shard = $2";
        self.execute(sql, values![generation, shard().number()]).await;
    }

    /// What becomes of a result that was polled under this generation.
    async fn polled(
        &self,
        recorder: &Recorder,
        watch: &Arc<Watch>,
        generation: i64,
        body: Value,
    ) -> Recorded {
        let lease = Some(Lease { shard: shard(), generation });
        let watch = Arc::new(Watch { lease, ..Watch::clone(watch) });
        let mut result = self.result(&watch, Ok(self.read(&body)));
        let (sender, receiver) = oneshot::channel();
        result.recorded = Some(sender);
        recorder.take(result);
        receiver.await.unwrap()
    }
}

/// Where the host of these services is.
fn shard() -> Shard {
    Shard::of(&"a.test".parse().unwrap())
}

each_database! {
    async fn what_was_polled_by_a_former_owner_is_dropped_and_nothing_of_it_is_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        house.owned_under(4).await;
        let fine = house.polled(&house.recorder, &service, 4, json!([up("db")])).await;
        assert!(matches!(fine, Recorded::Written(_)), "{fine:?}");
        let (told, changes) = (house.told().await, house.changes().await);
        house.owned_under(5).await;
        for generation in [4, 3, 6] {
            let late = house.polled(&house.recorder, &service, generation, json!([down("db")])).await;
            assert_eq!(late, Recorded::TakenOver, "{generation}");
        }
        assert_eq!((house.told().await, house.changes().await), (told, changes));
        assert_eq!(house.number("SELECT poll_seq AS v FROM service_states").await, 1);
        assert_eq!(house.recorder.unrecorded([shard()].into_iter().collect()), ShardSet::NONE);
    }

    async fn what_others_recorded_in_between_is_known_when_a_shard_comes_back(database: &TestDatabase) {
        let house = House::new(database).await;
        let service = house.service("orders").await;
        let other = house.another_recorder();
        house.owned_under(1).await;
        house.polled(&house.recorder, &service, 1, json!([up("db")])).await;
        house.owned_under(2).await;
        house.polled(&other, &service, 2, json!([down("db")])).await;
        house.owned_under(3).await;
        let back = house.polled(&house.recorder, &service, 3, json!([up("db")])).await;
        let Recorded::Written(summary) = back else { panic!("{back:?}") };
        assert_eq!(summary.status_changes.len(), 1, "it was down for the other");
        assert_eq!(house.changes().await, [
            "service - unknown healthy", "added db - healthy",
            "service - healthy degraded", "dependency db healthy down",
            "service - degraded healthy", "dependency db down healthy",
        ]);
    }

    async fn one_late_result_does_not_spoil_the_batch(database: &TestDatabase) {
        let house = House::new(database).await;
        let (one, other) = (house.service("orders").await, house.service("billing").await);
        house.owned_under(1).await;
        let lease = Some(Lease { shard: shard(), generation: 7 });
        let late = Arc::new(Watch { lease, ..Watch::clone(&one) });
        house.recorder.take(house.result(&late, Ok(house.read(&json!([up("db")])))));
        let fine = house.polled(&house.recorder, &other, 1, json!([up("db")])).await;
        assert!(matches!(fine, Recorded::Written(_)), "{fine:?}");
        let polled = house.rows("SELECT poll_seq FROM service_states ORDER BY service_no", &[]).await;
        let polled: Vec<i64> = polled.iter().map(|row| row.get("poll_seq").unwrap()).collect();
        assert_eq!(polled[0], 0);
        assert!(polled[1] > 0);
        assert_eq!(house.recorder.unrecorded(ShardSet::NONE), ShardSet::NONE);
    }
}
