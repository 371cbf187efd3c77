//! A clock that was wrong for a while.

use std::time::Duration;

use mainstay_monitor::past::keyframes::Done;
use mainstay_testkit::each_database;

use crate::house::{House, body};

/// And a bit: keyframes come once a day.
const DAY: Duration = Duration::from_hours(25);
const ALL: &str = "SELECT count(*) AS v FROM past_keyframes";

each_database! {
    async fn what_a_clock_that_was_ahead_has_left_is_not_believed(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.add("shop").await;
        house.keyframe().await;
        house.pass(365 * DAY);
        house.keyframe().await;
        house.pass(DAY);
        assert_eq!(house.look().await, Done::Marked);
        house.set_back(365 * DAY);
        house.poll(shop, Some(body(&[("db", 2)]))).await;
        house.pass(Duration::from_mins(20));
        assert_eq!(house.at(house.now()).await, house.live().await, "though a keyframe seems to be newer");
        assert_eq!(house.look().await, Done::Nothing, "the mark is from a time that has not come");
        house.keyframe().await;
        assert_eq!(house.number(ALL).await, 3, "the clock may have been set wrong only now");
        house.pass(DAY);
        house.keyframe().await;
        assert_eq!(house.look().await, Done::Nothing);
        assert_eq!(house.number(ALL).await, 3, "what was made ahead is gone");
        house.pass(Duration::from_hours(1));
        assert_eq!(house.at(house.now()).await, house.live().await);
    }
}
