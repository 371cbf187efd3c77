//! Journeys as people keep and edit them.

use mainstay_base::Timestamp;
use mainstay_journeys::{JourneyEdit, JourneysError, ReadSource};
use mainstay_store::{Dialect, Sql, StoreError, values};
use mainstay_testkit::each_database;
use tokio::sync::Notify;

use crate::house::House;

each_database! {
    async fn a_journey_is_kept_edited_and_removed(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "every: 1m\ntouches: [Payments]")).await.unwrap();
        let kept = house.journeys.find(id).await.unwrap();
        assert_eq!((kept.journey.name.as_str(), kept.journey.every_ms), ("Pay", Some(60_000)));
        assert_eq!((kept.journey.generation, kept.journey.touches), (1, vec!["Payments".to_owned()]));
        assert!(kept.journey.next_run_at.is_some() && kept.journey.outcome.is_none());
        let edit = |edit: JourneyEdit| {
            let house = &house;
            async move { house.events.write(async |tx, out| house.journeys.change(tx, out, id, edit).await).await }
        };
        let off = JourneyEdit { is_enabled: Some(false), generation: Some(1), ..JourneyEdit::default() };
        edit(off.clone()).await.unwrap();
        let kept = house.journeys.find(id).await.unwrap().journey;
        assert_eq!((kept.generation, kept.is_enabled, kept.next_run_at), (2, false, None));
        let late = edit(off).await;
        assert!(matches!(late, Err(JourneysError::Changed { generation: 2 })), "{late:?}");
        let source = ReadSource::read(&house.source("Pay twice", "every: 5m")).unwrap();
        edit(JourneyEdit { source: Some(source), ..JourneyEdit::default() }).await.unwrap();
        assert_eq!(house.journeys.find(id).await.unwrap().journey.name, "Pay twice");
        house.events.write(async |tx, out| house.journeys.remove(tx, out, id).await).await.unwrap();
        assert!(matches!(house.journeys.find(id).await, Err(JourneysError::NotFound)));
        assert_eq!(house.journeys.list("", None, 10).await.unwrap().items, []);
    }

    async fn an_edit_leaves_the_schedule_where_it_was_moved_to_meanwhile(database: &TestDatabase) {
        let house = House::new(database).await;
        let id = house.keep(&house.source("Pay", "every: 1m")).await.unwrap();
        let (next, moved, done) = (Timestamp::from_millis(9_000_000_000_000), Notify::new(), Notify::new());
        let moving = house.db.write(async |tx| {
            let sql = Sql::same("test.move", "UPDATE journeys SET next_run_at = $2 WHERE id = $1");
            tx.execute(&sql, values![id, next]).await?;
            moved.notify_one();
            done.notified().await;
            Ok::<_, StoreError>(())
        });
        let editing = async {
            moved.notified().await;
            house.change(id, JourneyEdit { is_enabled: Some(true), ..JourneyEdit::default() }).await;
        };
        let looking = async {
            // SQLite has one writer at a time anyway.
            if house.db.dialect() == Dialect::Postgres {
                house.until_count("SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'", 1).await;
            }
            done.notify_one();
        };
        let (moving, (), ()) = tokio::join!(moving, editing, looking);
        moving.unwrap();
        let journey = house.journeys.find(id).await.unwrap().journey;
        assert_eq!((journey.generation, journey.next_run_at), (2, Some(next)));
    }

    async fn what_is_no_journey_or_has_a_taken_name_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        house.keep(&house.source("Pay", "")).await.unwrap();
        let taken = house.keep(&house.source("PAY", "")).await;
        assert!(matches!(taken, Err(JourneysError::NameTaken)), "{taken:?}");
        let source = house.source("Other", "evry: 1m");
        let Err(JourneysError::Mistakes(mistakes)) = house.keep(&source).await else {
            panic!("a mistake was not seen");
        };
        assert_eq!((mistakes[0].line, mistakes[0].nearest.as_deref()), (2, Some("every")));
        let checked = house.journeys.check(&house.source("X", "vars: { a: null }").replace("amount: 1", "amount: \"{{ secret.NONE }}{{ a }}\""));
        let checked = checked.journey.unwrap();
        assert_eq!((checked.missing_secrets, checked.missing_vars), (vec!["NONE".to_owned()], vec!["a".to_owned()]));
    }

    async fn journeys_are_listed_in_pages_the_newest_first(database: &TestDatabase) {
        let house = House::new(database).await;
        let mut made = Vec::new();
        for name in ["a", "b", "c"] {
            made.push(house.keep(&house.source(name, "")).await.unwrap());
        }
        made.sort_by_key(|id| std::cmp::Reverse(id.to_string()));
        let first = house.journeys.list("", None, 2).await.unwrap();
        let second = house.journeys.list("", first.next, 2).await.unwrap();
        assert_eq!(second.next, None);
        let listed: Vec<_> = first.items.iter().chain(&second.items).map(|one| one.id).collect();
        assert_eq!(listed, made);
    }
}
