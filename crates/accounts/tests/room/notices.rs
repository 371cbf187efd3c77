//! Mail to the admins about requests for access.

use std::time::Duration;

use mainstay_accounts::{MAX_NOTICES, NOTICE_SPAN};
use mainstay_testkit::each_database;

use crate::access_requests::{ask, filled, rows};
use crate::house::{House, from};

/// So many ask, each from an address of their own.
async fn crowd(house: &House, name: &str, size: i64) {
    for number in 0..size {
        ask(house, &format!("{name}{number}@example.com"), &format!("198.51.100.{number}"))
            .await
            .unwrap();
    }
}

fn told(house: &House) -> i64 {
    house.post.sent().len().try_into().unwrap()
}

each_database! {
    async fn the_admins_get_a_bounded_number_an_hour_and_every_request_is_in(database: &TestDatabase) {
        let house = House::new(database).await;
        crowd(&house, "a", 2).await;
        house.clock.advance(NOTICE_SPAN / 2);
        crowd(&house, "b", MAX_NOTICES).await;
        assert_eq!(told(&house), MAX_NOTICES);
        assert_eq!(rows(&house).await, MAX_NOTICES + 2);
        house.clock.advance(NOTICE_SPAN / 2);
        crowd(&house, "c", 5).await;
        assert_eq!(told(&house), MAX_NOTICES + 2, "the two of an hour ago make room for two");
        house.clock.advance(NOTICE_SPAN);
        crowd(&house, "d", 1).await;
        assert_eq!(told(&house), MAX_NOTICES + 3);
    }

    async fn the_bound_holds_over_restarts_and_instances(database: &TestDatabase) {
        let first = House::new(database).await;
        crowd(&first, "a", MAX_NOTICES - 1).await;
        let second = House::new(database).await;
        second.clock.advance(Duration::from_secs(300));
        crowd(&second, "b", 3).await;
        assert_eq!((told(&first), told(&second)), (MAX_NOTICES - 1, 1));
    }

    async fn of_many_at_once_no_more_are_told(database: &TestDatabase) {
        let house = House::new(database).await;
        let forms: Vec<_> = (0..2 * MAX_NOTICES).map(|number| {
            house.clock.advance(Duration::from_millis(1));
            (filled(&house, &format!("a{number}@example.com")), from(&format!("198.51.100.{number}")))
        }).collect();
        house.clock.advance(Duration::from_secs(5));
        let mut tasks = tokio::task::JoinSet::new();
        for (form, source) in forms {
            let accounts = house.accounts.clone();
            tasks.spawn(async move { accounts.request_access(form, source).await.unwrap() });
        }
        tasks.join_all().await;
        assert_eq!((rows(&house).await, told(&house)), (2 * MAX_NOTICES, MAX_NOTICES));
    }

    async fn a_request_is_in_though_nobody_can_be_told(database: &TestDatabase) {
        let house = House::new(database).await;
        house.post.fail();
        ask(&house, "ada@example.com", "198.51.100.1").await.unwrap();
        assert_eq!((rows(&house).await, told(&house)), (1, 0));
        assert_eq!(house.actions().await, ["access_request.create"]);
    }

    async fn a_clock_that_was_set_back_does_not_silence_them(database: &TestDatabase) {
        let house = House::new(database).await;
        house.clock.advance(30 * NOTICE_SPAN);
        crowd(&house, "a", MAX_NOTICES).await;
        let earlier = House::new(database).await;
        crowd(&earlier, "b", 1).await;
        assert_eq!(told(&earlier), 1);
    }
}
