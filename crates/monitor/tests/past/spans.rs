//! A span of the past, a page at a time.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_monitor::past::history::{ChangeKind, MAX_CHANGES, MAX_MOST, MAX_SPAN};
use mainstay_monitor::past::{Asked, PastError};
use mainstay_testkit::each_database;
use tokio_util::sync::CancellationToken;

use crate::house::{House, body};
use crate::scrubber::told;

fn asked(from: Timestamp, to: Timestamp) -> Asked {
    Asked { from, to, after: None, most: None }
}

each_database! {
    async fn a_span_is_the_state_at_its_begin_and_what_changed_until_its_end(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(Duration::from_mins(1));
        let from = house.now();
        house.pass(Duration::from_mins(1));
        house.poll(shop, Some(body(&[("db", 2), ("new", 1)]))).await;
        house.pass(Duration::from_mins(1));
        house.poll(shop, None).await;
        let to = house.now();
        house.pass(Duration::from_mins(1));
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        let page = house.past.history(asked(from, to)).await.unwrap();
        let state = page.state.unwrap();
        assert_eq!((state.services.len(), state.dependencies.len()), (1, 1));
        assert_eq!(state.dependencies[0].service_id, shop);
        assert!(page.records_since.is_some_and(|since| since < from));
        let items: Vec<_> = page.items.iter().map(|item| {
            (item.kind, item.dependency_name.as_deref(), item.after.as_deref().unwrap_or("-"))
        }).collect();
        assert_eq!(items.len(), 5, "{items:?}");
        for expected in [
            (ChangeKind::Service, None, "degraded"), (ChangeKind::Dependency, Some("db"), "down"),
            (ChangeKind::Added, Some("new"), "degraded"), (ChangeKind::Service, None, "down"), (ChangeKind::Stale, None, "stale"),
        ] {
            assert!(items.contains(&expected), "{expected:?} in {items:?}");
        }
        assert!(page.items.iter().all(|item| item.at > from && item.at <= to && item.service_id == shop));
        assert_eq!(page.next_cursor, None);
    }

    async fn more_than_a_page_comes_in_pages_each_change_once(database: &TestDatabase) {
        let house = House::new(database).await;
        house.add("shop").await;
        house.pass(Duration::from_mins(1));
        let from = house.now();
        let (count, start) = (2 * MAX_CHANGES + 1, from.as_millis() + 1);
        house.execute(&format!(
            "WITH RECURSIVE t (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < {count})
             INSERT INTO changes (at, kind, service_no, before, after)
             SELECT {start} + n / 3, 'service', 1, 'healthy', 'down' FROM t")).await;
        house.pass(Duration::from_mins(1));
        let (mut ask, mut ids) = (asked(from, house.now()), Vec::new());
        for round in 0..3 {
            let page = house.past.history(ask).await.unwrap();
            assert_eq!(page.state.is_some(), round == 0, "only the first page brings the state");
            ids.extend(page.items.iter().map(|item| (item.at, item.id)));
            assert_eq!(page.next_cursor.is_some(), round < 2);
            ask.after = page.next_cursor.map(|cursor| cursor.parse().unwrap());
        }
        assert_eq!(ids.len(), count);
        assert!(ids.is_sorted_by(|one, other| one < other), "each once and by time");
    }

    async fn of_more_changes_than_are_wanted_the_newest_are_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.pass(Duration::from_mins(1));
        let (from, step) = (house.now(), Duration::from_secs(1));
        for healthy in [0, 2].into_iter().cycle().take(10) {
            house.pass(step);
            house.poll(shop, Some(body(&[("db", healthy)]))).await;
        }
        let to = house.now();
        let whole = house.past.history(asked(from, to)).await.unwrap();
        for most in [2, 5, 9] {
            let page = house.past.history(Asked { most: Some(most), ..asked(from, to) }).await.unwrap();
            assert!(page.from > from && page.items.len() <= most as usize && !page.items.is_empty(), "{page:?}");
            assert!(whole.items.ends_with(&page.items), "the newest: {page:?}");
            let there = house.past.at(page.from).await.unwrap().state;
            assert_eq!(page.state.unwrap().services.len(), there.services().count());
            let left_out = whole.items.len() - page.items.len();
            assert!(whole.items[..left_out].iter().all(|item| item.at <= page.from), "none is lost");
        }
        let most = u32::try_from(whole.items.len()).unwrap();
        let page = house.past.history(Asked { most: Some(most), ..asked(from, to) }).await.unwrap();
        assert_eq!((page.from, page.items.len()), (from, whole.items.len()), "as many as there are");
        for most in [0, MAX_MOST + 1] {
            let refused = house.past.history(Asked { most: Some(most), ..asked(from, to) }).await;
            assert!(matches!(refused, Err(PastError::Most { most: named }) if named == most), "{refused:?}");
        }
    }

    async fn a_span_that_begins_before_there_are_records_begins_with_them(database: &TestDatabase) {
        let house = House::new(database).await;
        let before = house.now();
        house.pass(Duration::from_hours(1));
        let shop = house.add("shop").await;
        house.pass(Duration::from_secs(5));
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(Duration::from_mins(1));
        let page = house.past.history(asked(before, house.now())).await.unwrap();
        assert_eq!(Some(page.from), page.records_since);
        assert!(page.from > before && !page.state.unwrap().services.is_empty());
        assert!(page.items.iter().all(|item| item.kind != ChangeKind::Added || item.dependency_id.is_some()));
        let early = house.past.history(asked(before, before.plus(Duration::from_mins(1)))).await.unwrap();
        assert_eq!((early.from, early.items.len()), (before, 0));
        assert!(early.state.unwrap().services.is_empty());
    }

    async fn what_was_closed_comes_back_as_it_was(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.alias("db", "Orders").await;
        house.pass(Duration::from_secs(5));
        house.poll(shop, Some(body(&[("db", 0)]))).await;
        house.pass(Duration::from_mins(1));
        house.poll(shop, Some(body(&[]))).await;
        house.pass(Duration::from_hours(24 * 40));
        house.pass_to_the_hour();
        house.upkeep.run_once(&CancellationToken::new()).await.unwrap();
        house.pass(Duration::from_mins(1));
        let from = house.now();
        assert!(house.past.at(from).await.unwrap().state.dependencies().next().is_none(), "it is closed");
        house.pass(Duration::from_mins(1));
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.pass(Duration::from_mins(1));
        let span = house.span(from, house.now()).await;
        assert_eq!(span.at(from), told(&house.past.at(from).await.unwrap().state));
        let now = house.past.at(house.now()).await.unwrap().state;
        assert_eq!((now.dependencies().count(), span.at(house.now())), (1, told(&now)));
    }

    async fn what_is_no_span_of_the_past_is_refused(database: &TestDatabase) {
        let house = House::new(database).await;
        house.add("shop").await;
        house.pass(Duration::from_hours(24 * 40));
        let now = house.now();
        let before = |duration: Duration| Timestamp::from_millis(now.as_millis() - i64::try_from(duration.as_millis()).unwrap());
        let day = Duration::from_hours(24);
        let longer = MAX_SPAN + Duration::from_millis(1);
        for (from, to) in [(now, before(day)), (before(longer), now)] {
            let refused = house.past.history(asked(from, to)).await;
            assert!(matches!(refused, Err(PastError::Span { .. })), "{refused:?}");
        }
        let future = now.plus(day);
        assert!(matches!(house.past.history(asked(now, future)).await, Err(PastError::Future { .. })));
        assert!(house.past.history(asked(before(MAX_SPAN), now)).await.is_ok());
    }
}
