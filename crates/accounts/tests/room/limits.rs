//! The sliding limits.

use std::time::Duration;

use mainstay_accounts::{Limit, Verdict};
use mainstay_store::Dialect;
use mainstay_testkit::each_database;

use crate::house::House;

const LIMIT: Limit = Limit { name: "list_workers", count: 3, window: Duration::from_secs(60) };

/// A house whose clock moves on both databases.
struct Moved {
    house: House,
    shift: std::cell::Cell<i64>,
}

impl Moved {
    fn advance(&self, seconds: u64) {
        self.house.clock.advance(Duration::from_secs(seconds));
        self.shift.set(self.shift.get() + i64::try_from(seconds * 1000).unwrap());
        self.house.db.shift_clock(self.shift.get());
    }

    async fn take(&self, subject: &str) -> Verdict {
        self.house.accounts.limits().take(subject, &LIMIT).await.unwrap()
    }
}

each_database! {
    async fn a_minute_slides(database: &TestDatabase) {
        let moved = Moved { house: House::new(database).await, shift: 0.into() };
        assert_eq!(moved.take("ada").await.remaining, 2);
        moved.advance(50);
        assert_eq!(moved.take("ada").await.remaining, 1);
        let third = moved.take("ada").await;
        assert!(third.admitted && third.remaining == 0 && third.limit == 3);
        let fourth = moved.take("ada").await;
        assert!(!fourth.admitted, "{fourth:?}");
        let rest = fourth.resets_in.as_secs_f64();
        assert!((8.0..=10.0).contains(&rest), "{rest}");
        assert!(moved.take("bob").await.admitted, "each for itself");
        moved.advance(11);
        // A fixed minute would let three through here.
        assert!(moved.take("ada").await.admitted);
        assert!(!moved.take("ada").await.admitted);
        moved.advance(50);
        let later = moved.take("ada").await;
        assert!(later.admitted && later.remaining == 1, "{later:?}");
    }

    async fn refused_requests_do_not_prolong_the_wait(database: &TestDatabase) {
        let moved = Moved { house: House::new(database).await, shift: 0.into() };
        for _ in 0..10 {
            moved.take("ada").await;
            moved.advance(1);
        }
        moved.advance(51);
        assert!(moved.take("ada").await.admitted);
    }

    async fn of_many_at_once_the_limit_passes(database: &TestDatabase) {
        let house = House::new(database).await;
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let accounts = house.accounts.clone();
                tokio::spawn(async move { accounts.limits().take("ada", &LIMIT).await.unwrap().admitted })
            })
            .collect();
        let mut admitted = 0;
        for task in tasks {
            admitted += u32::from(task.await.unwrap());
        }
        assert_eq!(admitted, LIMIT.count);
    }

    async fn two_instances_share_a_window_on_postgresql(database: &TestDatabase) {
        let (first, second) = (House::new(database).await, House::new(database).await);
        let mut admitted = 0;
        for _ in 0..3 {
            for house in [&first, &second] {
                admitted += u32::from(house.accounts.limits().take("ada", &LIMIT).await.unwrap().admitted);
            }
        }
        let expected = if first.db.dialect() == Dialect::Postgres { LIMIT.count } else { 2 * LIMIT.count };
        assert_eq!(admitted, expected);
    }

    async fn a_clock_that_was_set_back_locks_nobody_out(database: &TestDatabase) {
        let moved = Moved { house: House::new(database).await, shift: 0.into() };
        moved.advance(3600);
        for _ in 0..4 {
            moved.take("ada").await;
        }
        if moved.house.db.dialect() == Dialect::Postgres {
            moved.house.db.shift_clock(0);
            assert!(moved.take("ada").await.admitted);
        }
    }
}
