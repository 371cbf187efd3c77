//! A thousand journeys that are due at the same instant.

use std::time::Duration;

use mainstay_journeys::ReadSource;
use mainstay_journeys::engine::STARTED_TOGETHER;
use mainstay_testkit::each_database;

use crate::house::House;

const CROWD: usize = 1_000;
const HOUR: Duration = Duration::from_secs(3_600);
const RUNS: &str = "SELECT count(*) AS n FROM journey_runs";
const TRAVELLERS: &str = "SELECT count(DISTINCT journey_id) AS n FROM journey_runs";
const PASSED: &str = "SELECT count(*) AS n FROM journey_runs WHERE status = 'passed'";
const SKIPPED: &str = "SELECT count(*) AS n FROM journey_runs WHERE status = 'skipped'";
const WAITING: &str = "SELECT count(*) AS n FROM jobs WHERE status = 'queued'";

/// Keeps them, all due at the moment of the first.
async fn gather(house: &House) {
    let sources: Vec<String> =
        (0..CROWD).map(|index| house.source(&format!("j{index}"), "every: 1h")).collect();
    let kept = house.events.write(async |tx, out| {
        for source in &sources {
            house.journeys.create(tx, out, &ReadSource::read(source)?, true).await?;
        }
        Ok::<_, mainstay_journeys::JourneysError>(())
    });
    kept.await.unwrap();
    house
        .execute("UPDATE journeys SET next_run_at = (SELECT min(next_run_at) FROM journeys)")
        .await;
}

/// When the first and the last of the journeys are due.
async fn due(house: &House) -> (i64, i64) {
    let first = house.count("SELECT min(next_run_at) AS n FROM journeys").await;
    (first, house.count("SELECT max(next_run_at) AS n FROM journeys").await)
}

/// Looks until nothing is due; tells how many schedules moved on, at each look no more than there may.
async fn look(house: &House) -> usize {
    let mut moved = 0;
    loop {
        let together = house.journeys.start_due().await.unwrap();
        assert!(together <= STARTED_TOGETHER, "{together}");
        moved += together;
        if together == 0 {
            return moved;
        }
    }
}

each_database! {
    async fn a_thousand_that_are_due_at_once_run_once_each_and_the_next_tick_is_right(database: &TestDatabase) {
        let (house, crowd) = (House::new(database).await, i64::try_from(CROWD).unwrap());
        let (hour, portion) = (i64::try_from(HOUR.as_millis()).unwrap(), i64::try_from(STARTED_TOGETHER).unwrap());
        gather(&house).await;
        let (first, last) = due(&house).await;
        assert_eq!(first, last);
        assert_eq!(look(&house).await, CROWD);
        assert_eq!((house.count(RUNS).await, house.count(TRAVELLERS).await), (crowd, crowd));
        assert_eq!(due(&house).await, (first + hour, first + hour), "the beat stays");

        // An hour later nobody has run them: what is due is skipped, and no job is added to those that wait.
        let later = house.later(database, HOUR).await;
        assert_eq!(later.journeys.start_due().await.unwrap(), STARTED_TOGETHER);
        assert_eq!((later.count(SKIPPED).await, later.count(WAITING).await), (portion, crowd));
        assert_eq!(due(&later).await, (first + hour, first + 2 * hour));

        let runner = house.strong_runner();
        house.until_count(PASSED, crowd).await;
        runner.stop().await;
        assert_eq!(house.payments.created(), CROWD, "each has asked once");
        assert_eq!(later.journeys.start_due().await.unwrap(), STARTED_TOGETHER);
        assert_eq!((later.count(SKIPPED).await, later.count(WAITING).await), (portion, portion));
    }
}
