//! Followers: each event once, in order, at once; slow and fast ones, few and many.

use mainstay_events::{Ask, EventsError, Kinds, Opening, Stream, Streams};
use mainstay_store::Dialect;
use mainstay_testkit::{TestDatabase, each_database};
use serde_json::json;

use crate::house::{
    Instance, LONG, NEVER, ask, data, event, log, next, nothing_comes, number, say, user,
};

/// More than a ring of the organisation's stream holds.
const MANY: i64 = 6_000;
/// Bytes of a follower and its wait.
const SMALL: usize = 1_024;
/// Events of one write.
const TOGETHER: i64 = 500;

async fn say_many(instance: &Instance, stream: Stream, numbers: std::ops::Range<i64>) {
    let numbers: Vec<_> = numbers.collect();
    for portion in numbers.chunks(usize::try_from(TOGETHER).unwrap()) {
        let written: Result<(), EventsError> = instance
            .events
            .write(async |_tx, outbox| {
                for number in portion {
                    outbox.add(stream, crate::house::numbered(*number))?;
                }
                Ok(())
            })
            .await;
        written.unwrap();
    }
}

/// Thousands wait at once, and hardly one of them reads the database.
#[tokio::test]
async fn a_follower_that_waits_is_small() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let instance = Instance::start(&database).await;
    let (_, mut feed) = instance.events.open(&ask(Some(user()))).await.unwrap();
    let size = size_of_val(&feed) + size_of_val(&feed.next());
    assert!(size <= SMALL, "{size} bytes");
    instance.stop().await;
}

each_database! {
    async fn a_follower_gets_what_is_written_from_now_on(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| options.sweep = NEVER).await;
        instance.say(Stream::Org, 1).await;
        let own = user();
        let (opening, mut feed) = instance.events.open(&ask(Some(own))).await.unwrap();
        assert_eq!(opening, Opening::Snapshot);
        let epoch = feed.position().to_string().split('.').next().unwrap().to_owned();
        assert_eq!(feed.position().to_string(), format!("{epoch}.1.0"));
        instance.say(Stream::Org, 2).await;
        let delivery = next(&mut feed).await;
        assert_eq!(delivery.position.to_string(), format!("{epoch}.2.0"));
        let read = data(&delivery);
        assert_eq!((&read["type"], &read["number"]), (&json!("said"), &json!(2)));
        assert_eq!((&read["seq"], &read["stream"]), (&json!(2), &json!("org")));
        assert!(read["at"].as_str().unwrap().ends_with('Z'));
        instance.say(Stream::User(own), 3).await;
        let delivery = next(&mut feed).await;
        assert_eq!(delivery.position.to_string(), format!("{epoch}.2.1"));
        assert_eq!((delivery.stream, delivery.seq), (Stream::User(own), 1));
        nothing_comes(&mut feed).await;
        instance.stop().await;
    }

    async fn nobody_sees_the_stream_of_another_user(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (own, other) = (user(), user());
        let (_, mut feed) = instance.events.open(&ask(Some(own))).await.unwrap();
        let (_, mut nobody) = instance.events.open(&ask(None)).await.unwrap();
        say(&instance.events, &[Stream::User(other)], 1).await.unwrap();
        say(&instance.events, &[Stream::User(own)], 2).await.unwrap();
        say(&instance.events, &[Stream::Org], 3).await.unwrap();
        let mut seen = [number(&next(&mut feed).await), number(&next(&mut feed).await)];
        seen.sort_unstable();
        assert_eq!(seen, [2, 3]);
        assert_eq!(number(&next(&mut nobody).await), 3);
        nothing_comes(&mut feed).await;
        nothing_comes(&mut nobody).await;
        instance.stop().await;
    }

    async fn asked_streams_and_kinds_are_kept_to_and_the_place_moves_on(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = user();
        let kinds = Kinds::new(["wanted"]).unwrap();
        let streams = Streams { org: true, user: false };
        let filtered = Ask { user: Some(own), streams, kinds: Some(kinds), after: None };
        let (_, mut feed) = instance.events.open(&filtered).await.unwrap();
        let written: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            outbox.add(Stream::User(own), event("wanted", &json!({"number": 1})))?;
            outbox.add(Stream::Org, event("other", &json!({"number": 2})))?;
            outbox.add(Stream::Org, event("wanted", &json!({"number": 3})))?;
            outbox.add(Stream::Org, event("other", &json!({"number": 4})))?;
            Ok(())
        }).await;
        written.unwrap();
        assert_eq!(number(&next(&mut feed).await), 3);
        nothing_comes(&mut feed).await;
        assert!(feed.position().to_string().ends_with(".3.0"), "{}", feed.position());
        instance.stop().await;
    }

    async fn many_followers_share_the_bytes(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| options.sweep = NEVER).await;
        let mut feeds = Vec::new();
        for _ in 0..50 {
            feeds.push(instance.events.open(&ask(None)).await.unwrap().1);
        }
        instance.say(Stream::Org, 1).await;
        let mut frames = Vec::new();
        for feed in &mut feeds {
            frames.push(next(feed).await.frame);
        }
        assert!(frames.windows(2).all(|pair| pair[0].as_ptr() == pair[1].as_ptr()));
        instance.stop().await;
    }

    async fn a_slow_follower_misses_nothing_and_holds_nobody_up(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (_, mut slow) = instance.events.open(&ask(None)).await.unwrap();
        let (_, mut fast) = instance.events.open(&ask(None)).await.unwrap();
        let writing = say_many(&instance, Stream::Org, 0..MANY);
        let reading = async {
            for expected in 0..MANY {
                assert_eq!(number(&next(&mut fast).await), expected);
            }
        };
        tokio::join!(writing, reading);
        for expected in 0..MANY {
            assert_eq!(number(&next(&mut slow).await), expected);
        }
        instance.stop().await;
    }

    async fn a_dropped_wait_loses_nothing(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (_, mut feed) = instance.events.open(&ask(None)).await.unwrap();
        say_many(&instance, Stream::Org, 0..MANY).await;
        let mut awaits = 0_usize;
        for expected in 0..200 {
            let delivery = loop {
                awaits += 1;
                let waited = mainstay_testkit::drop_at_await(awaits % 3, feed.next()).await;
                if let Some(delivery) = waited {
                    break delivery.unwrap();
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(number(&delivery), expected);
        }
        instance.stop().await;
    }

    async fn what_is_at_hand_is_given_without_waiting(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (_, mut feed) = instance.events.open(&ask(None)).await.unwrap();
        assert!(feed.try_next().is_none());
        say_many(&instance, Stream::Org, 0..10).await;
        assert_eq!(number(&next(&mut feed).await), 0);
        for expected in 1..10 {
            assert_eq!(number(&feed.try_next().unwrap()), expected);
        }
        assert!(feed.try_next().is_none());
        instance.stop().await;
    }

    async fn a_stop_ends_every_follower_at_once(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let (_, mut feed) = instance.events.open(&ask(Some(user()))).await.unwrap();
        let streams = Streams { org: false, user: false };
        let nothing = Ask { streams, ..ask(None) };
        let (_, mut idle) = instance.events.open(&nothing).await.unwrap();
        let events = instance.events.clone();
        instance.stop.cancel();
        for feed in [&mut feed, &mut idle] {
            let ended = tokio::time::timeout(LONG, feed.next()).await.unwrap();
            assert!(matches!(ended, Err(EventsError::Closed)), "{ended:?}");
        }
        instance.stop().await;
        assert!(events.open(&ask(None)).await.is_err());
    }

    async fn a_reader_ends_when_nobody_follows(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let followed = |expected: &str| {
            assert!(format!("{:?}", instance.events).contains(expected), "{:?}", instance.events);
        };
        let (_, one) = instance.events.open(&ask(None)).await.unwrap();
        let (_, other) = instance.events.open(&ask(Some(user()))).await.unwrap();
        followed("followed: 2");
        drop(other);
        followed("followed: 1");
        drop(one);
        followed("followed: 0");
        instance.say(Stream::Org, 1).await;
        let (_, mut again) = instance.events.open(&ask(None)).await.unwrap();
        instance.say(Stream::Org, 2).await;
        assert_eq!(number(&next(&mut again).await), 2);
        instance.stop().await;
    }

    async fn five_thousand_open_at_once(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        instance.say(Stream::Org, 0).await;
        let opening: Vec<_> = (0..5_000).map(|_| {
            let events = instance.events.clone();
            tokio::spawn(async move { events.open(&ask(Some(user()))).await.unwrap().1 })
        }).collect();
        let mut feeds = Vec::new();
        for feed in opening {
            feeds.push(feed.await.unwrap());
        }
        instance.say(Stream::Org, 1).await;
        for feed in &mut feeds {
            assert_eq!(number(&next(feed).await), 1);
        }
        assert_eq!(log(&instance.db, Stream::Org).await.len(), 2);
        instance.stop().await;
    }
}

/// The wall clock steps; the order stays.
#[tokio::test]
async fn a_clock_that_steps_changes_no_order() {
    use mainstay_base::Timestamp;
    use mainstay_testkit::FakeClock;
    use std::sync::Arc;

    let database = TestDatabase::new(Dialect::Sqlite).await;
    let clock = Arc::new(FakeClock::new());
    let db = database.open_with(Arc::clone(&clock) as _, |_| {}).await;
    let instance = Instance::start_on(db, Arc::clone(&clock) as _, |_| {}).await;
    let (_, mut feed) = instance.events.open(&ask(None)).await.unwrap();
    for (step, expected) in [1_i64, 4_102_444_800_000, 5, 1_767_225_600_000].iter().zip(0..) {
        clock.step_wall(Timestamp::from_millis(*step));
        instance.say(Stream::Org, expected).await;
        let delivery = next(&mut feed).await;
        assert_eq!(number(&delivery), expected);
        assert_eq!(data(&delivery)["at"], Timestamp::from_millis(*step).to_string());
    }
    instance.stop().await;
}
