//! A run that dies anywhere loses nothing and doubles nothing.

use mainstay_store::Dialect;
use mainstay_testkit::clock::START;
use mainstay_testkit::{TestDatabase, drop_at_await, each_database};
use tokio_util::sync::CancellationToken;

use super::house::{House, Rollup, later, poll, scattered};
use crate::latency::PointsRow;

const SERVICES: i64 = 5;

fn polls() -> Vec<PointsRow> {
    let of = |service: i64| {
        let mut latencies = scattered(service, 900, 90_000);
        (0..66_u64)
            .map(move |minute| poll(service, later(START, minute, 3), &[latencies.next().unwrap()]))
    };
    (1..=SERVICES).flat_map(of).collect()
}

/// What an undisturbed run makes.
async fn undisturbed(dialect: Dialect) -> Vec<Rollup> {
    let database = TestDatabase::new(dialect).await;
    let house = House::with_services(&database, SERVICES).await;
    house.insert(&polls()).await;
    house.run_at(later(START, 73, 0)).await;
    house.rollups().await
}

each_database! {
    async fn a_run_that_is_dropped_at_any_await_goes_on_where_it_was(database: &TestDatabase) {
        let house = House::with_services(database, SERVICES).await;
        house.insert(&polls()).await;
        house.set_time(later(START, 73, 0)).await;
        let stop = CancellationToken::new();
        let mut drops = 0;
        for awaits in (5..).step_by(11) {
            if let Some(ended) = drop_at_await(awaits, house.upkeep.run_once(&stop)).await {
                ended.unwrap();
                break;
            }
            drops += 1;
        }
        assert!(drops > 5, "it was dropped {drops} times");
        assert!(house.rollups().await == undisturbed(house.db.dialect()).await);
    }

    async fn two_runs_at_once_make_what_one_makes(database: &TestDatabase) {
        let house = House::with_services(database, SERVICES).await;
        house.insert(&polls()).await;
        house.set_time(later(START, 73, 0)).await;
        let stop = CancellationToken::new();
        let (one, other) = tokio::join!(house.upkeep.run_once(&stop), house.upkeep.run_once(&stop));
        one.and(other).unwrap();
        assert!(house.rollups().await == undisturbed(house.db.dialect()).await);
    }
}
