//! The write path: numbers without gaps, in the order of the commits, and nothing half done.

use std::time::Duration;

use mainstay_events::{Event, EventError, EventsError, Heard, Stream, Topic};
use mainstay_store::{Dialect, StoreError};
use mainstay_testkit::{TestDatabase, drop_at_await, each_database};
use serde_json::json;

use crate::house::{Instance, last_seq, log, numbered, say, user};

const WRITERS: i64 = 32;
const WRITES: i64 = 20;
/// No write has more awaits than this.
const MOST_AWAITS: usize = 100;

async fn numbers(instance: &Instance, stream: Stream) -> Vec<i64> {
    log(&instance.db, stream).await.into_iter().map(|(seq, _)| seq).collect()
}

fn up_to(last: i64) -> Vec<i64> {
    (1..=last).collect()
}

each_database! {
    async fn numbers_have_no_gaps_under_many_writers(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = Stream::User(user());
        let writers: Vec<_> = (0..WRITERS).map(|writer| {
            let events = instance.events.clone();
            tokio::spawn(async move {
                for write in 0..WRITES {
                    let number = writer * WRITES + write;
                    // Half of them touch the streams in the opposite order.
                    let streams = if writer % 2 == 0 { [Stream::Org, own] } else { [own, Stream::Org] };
                    say(&events, &streams, number).await.unwrap();
                }
            })
        }).collect();
        for writer in writers {
            writer.await.unwrap();
        }
        let total = WRITERS * WRITES;
        assert_eq!(numbers(&instance, Stream::Org).await, up_to(total));
        assert_eq!(numbers(&instance, own).await, up_to(total));
        let mut told: Vec<_> = log(&instance.db, Stream::Org).await.into_iter()
            .map(|(_, fields)| fields["number"].as_i64().unwrap()).collect();
        told.sort_unstable();
        assert_eq!(told, (0..total).collect::<Vec<_>>(), "each event is there once");
        instance.stop().await;
    }

    async fn the_first_event_makes_the_stream(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = Stream::User(user());
        assert_eq!(last_seq(&instance.db, own).await, None);
        let writers: Vec<_> = (0..8).map(|number| {
            let events = instance.events.clone();
            tokio::spawn(async move { say(&events, &[own], number).await })
        }).collect();
        for writer in writers {
            writer.await.unwrap().unwrap();
        }
        assert_eq!(numbers(&instance, own).await, up_to(8));
        instance.stop().await;
    }

    async fn a_write_that_fails_leaves_no_gap_and_rings_nothing(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        instance.say(Stream::Org, 1).await;
        let mut ears = instance.events.doorbell().listen(Topic::StateChanges);
        let failed: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            outbox.add(Stream::Org, numbered(2))?;
            Err(StoreError::Closed.into())
        }).await;
        assert!(failed.is_err());
        let silent = tokio::time::timeout(Duration::ZERO, ears.heard()).await;
        // A listener that has just come up tells of anything, at a time of its own.
        assert!(!matches!(silent, Ok(Heard::Keys(_))), "{silent:?}");
        instance.say(Stream::Org, 3).await;
        assert_eq!(numbers(&instance, Stream::Org).await, up_to(2));
        let heard = ears.heard().await;
        let org = Heard::Keys(["org".to_owned()].into());
        assert!(heard == org || heard == Heard::Anything, "{heard:?}");
        instance.stop().await;
    }

    async fn a_writer_that_hangs_up_leaves_all_or_nothing(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = Stream::User(user());
        for awaits in 0..MOST_AWAITS {
            let number = i64::try_from(awaits).unwrap();
            let streams = [Stream::Org, own];
            let write = say(&instance.events, &streams, number);
            if drop_at_await(awaits, write).await.is_some() {
                break;
            }
        }
        // Behind whatever still commits: on PostgreSQL writers wait for the same counters.
        say(&instance.events, &[Stream::Org, own], -1).await.unwrap();
        let (org, user) = (log(&instance.db, Stream::Org).await, log(&instance.db, own).await);
        assert_eq!(org, user, "half a write is seen");
        let seqs: Vec<_> = org.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(seqs, up_to(i64::try_from(org.len()).unwrap()));
        instance.stop().await;
    }

    async fn an_event_that_is_too_large_ends_the_write_and_costs_no_number(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let refused: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            outbox.add(Stream::Org, numbered(1))?;
            let large = json!({"text": "x".repeat(100 * 1024)});
            outbox.add(Stream::Org, Event::new("large", large.as_object().unwrap())?)?;
            Ok(())
        }).await;
        assert!(matches!(refused, Err(EventsError::Event(EventError::TooLarge { .. }))));
        assert_eq!(last_seq(&instance.db, Stream::Org).await, Some(0));
        instance.stop().await;
    }

    async fn whoever_swallows_a_full_outbox_does_not_commit(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let refused: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            while outbox.add(Stream::Org, numbered(1)).is_ok() {}
            Ok(())
        }).await;
        assert!(matches!(refused, Err(EventsError::Store(StoreError::Poisoned))));
        assert_eq!(last_seq(&instance.db, Stream::Org).await, Some(0));
        instance.stop().await;
    }

    async fn any_text_is_kept_as_it_was_written(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let fields = json!({
            "text": "quote \" backslash \\ line\nnul \u{0} snow ☃ \u{1F600} <script>",
            "nested": {"list": [1, -2.5, null, true]},
        });
        let written: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            outbox.add(Stream::Org, Event::new("text", fields.as_object().unwrap())?)?;
            Ok(())
        }).await;
        written.unwrap();
        assert_eq!(log(&instance.db, Stream::Org).await, [(1, fields)]);
        instance.stop().await;
    }

    async fn many_events_of_one_write_keep_their_order(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let written: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            for number in 1..=2_000 {
                outbox.add(Stream::Org, numbered(number))?;
            }
            Ok(())
        }).await;
        written.unwrap();
        for (seq, fields) in log(&instance.db, Stream::Org).await {
            assert_eq!(fields["number"], seq);
        }
        assert_eq!(last_seq(&instance.db, Stream::Org).await, Some(2_000));
        instance.stop().await;
    }
}

#[tokio::test]
async fn a_write_inside_a_write_is_refused_at_once() {
    let database = TestDatabase::new(Dialect::Sqlite).await;
    let instance = Instance::start(&database).await;
    let inner = instance.events.clone();
    let refused: Result<(), EventsError> =
        instance.events.write(async |_tx, _outbox| say(&inner, &[Stream::Org], 1).await).await;
    assert!(matches!(refused, Err(EventsError::Store(StoreError::NestedWrite))));
    instance.stop().await;
}
