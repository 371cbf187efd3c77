//! What is no longer kept: by age, by count, the floor first, and followers that fall below it.

use std::time::Duration;

use mainstay_events::{EventsError, Opening, ResetReason, Stream};
use mainstay_store::{Sql, values};
use mainstay_testkit::each_database;

use crate::house::{Instance, LONG, ask, ask_after, log, next, number, numbered, user};

const FLOOR: Sql = Sql::same("test.floor", "SELECT floor_seq FROM event_streams WHERE name = $1");
const AGE: Sql = Sql::same("test.age", "UPDATE events SET at = at - $1 WHERE seq <= $2");
const RENAME: Sql =
    Sql::same("test.rename", "UPDATE events SET kind = 'rare' WHERE seq = $1 OR seq = $2");
const RAISE: Sql = Sql::same("test.raise", "UPDATE event_streams SET floor_seq = $1");
const AN_HOUR: i64 = 60 * 60 * 1_000;

async fn write(instance: &Instance, stream: Stream, count: i64) {
    let written: Result<(), EventsError> = instance
        .events
        .write(async |_tx, outbox| {
            for number in 1..=count {
                outbox.add(stream, numbered(number))?;
            }
            Ok(())
        })
        .await;
    written.unwrap();
}

async fn floor(instance: &Instance, stream: Stream) -> i64 {
    let name = stream.to_string();
    instance.db.fetch_one(&FLOOR, values![&name]).await.unwrap().get("floor_seq").unwrap()
}

async fn kept(instance: &Instance, stream: Stream) -> Vec<i64> {
    log(&instance.db, stream).await.into_iter().map(|(seq, _)| seq).collect()
}

each_database! {
    async fn so_many_are_kept_of_each_stream(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| options.kept_count = 10).await;
        let own = Stream::User(user());
        write(&instance, Stream::Org, 2_500).await;
        write(&instance, own, 12).await;
        assert_eq!(instance.events.clean_up().await.unwrap(), 2_492);
        assert_eq!(kept(&instance, Stream::Org).await, (2_491..=2_500).collect::<Vec<_>>());
        assert_eq!(kept(&instance, own).await, (3..=12).collect::<Vec<_>>());
        assert_eq!(floor(&instance, Stream::Org).await, 2_490);
        assert_eq!(instance.events.clean_up().await.unwrap(), 0);
        instance.stop().await;
    }

    async fn old_ones_go_and_young_ones_stay(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| {
            options.kept_for = Duration::from_secs(60);
        }).await;
        write(&instance, Stream::Org, 3_000).await;
        instance.db.write(async |tx| tx.execute(&AGE, values![AN_HOUR, 2_997]).await).await.unwrap();
        assert_eq!(instance.events.clean_up().await.unwrap(), 2_997);
        assert_eq!(kept(&instance, Stream::Org).await, [2_998, 2_999, 3_000]);
        assert_eq!(floor(&instance, Stream::Org).await, 2_997);
        instance.say(Stream::Org, 3_001).await;
        assert_eq!(kept(&instance, Stream::Org).await.last(), Some(&3_001));
        instance.stop().await;
    }

    async fn a_clean_up_that_was_cut_short_is_finished(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        write(&instance, Stream::Org, 20).await;
        instance.db.write(async |tx| tx.execute(&RAISE, values![15_i64]).await).await.unwrap();
        assert_eq!(instance.events.clean_up().await.unwrap(), 15);
        assert_eq!(kept(&instance, Stream::Org).await, [16, 17, 18, 19, 20]);
        instance.stop().await;
    }

    async fn whoever_comes_back_below_the_floor_begins_anew(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| options.kept_count = 10).await;
        let (_, feed) = instance.events.open(&ask(None)).await.unwrap();
        let epoch = feed.position().to_string().split('.').next().unwrap().to_owned();
        drop(feed);
        write(&instance, Stream::Org, 100).await;
        instance.events.clean_up().await.unwrap();
        for (seq, expected) in [
            (0, Opening::Reset { reason: ResetReason::Floor }),
            (89, Opening::Reset { reason: ResetReason::Floor }),
            (90, Opening::Resumed),
        ] {
            let asked = ask_after(None, &format!("{epoch}.{seq}.0"));
            let (opening, mut feed) = instance.events.open(&asked).await.unwrap();
            assert_eq!(opening, expected, "{seq}");
            if opening == Opening::Resumed {
                assert_eq!(number(&next(&mut feed).await), 91);
            }
        }
        let oldest = instance.events.history(&ask(None), 1).await.unwrap();
        assert_eq!(oldest.events[0].seq, 91);
        instance.stop().await;
    }

    async fn a_follower_that_is_overtaken_is_told_so(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| options.kept_count = 10).await;
        let (_, mut slow) = instance.events.open(&ask(None)).await.unwrap();
        let (_, mut fast) = instance.events.open(&ask(None)).await.unwrap();
        for _ in 0..3 {
            write(&instance, Stream::Org, 3_000).await;
        }
        for _ in 0..9_000 {
            next(&mut fast).await;
        }
        instance.events.clean_up().await.unwrap();
        let told = tokio::time::timeout(LONG, async {
            loop {
                if let Err(error) = slow.next().await {
                    break error;
                }
            }
        }).await.unwrap();
        assert!(matches!(told, EventsError::BelowFloor), "{told:?}");
        instance.stop().await;
    }

    async fn those_of_a_span_of_time_are_found_among_many(database: &TestDatabase) {
        let instance = Instance::start_with(database, |_| {}).await;
        write(&instance, Stream::Org, 3_000).await;
        // The first thousand are two hours old, the second one.
        for (age, upto) in [(AN_HOUR, 1_000), (AN_HOUR, 2_000)] {
            instance.db.write(async |tx| tx.execute(&AGE, values![age, upto]).await).await.unwrap();
        }
        let now = instance.db.now().await.unwrap().as_millis();
        let at = |minutes: i64| mainstay_base::Timestamp::from_millis(now - minutes * 60_000);
        let kinds = [numbered(1).kind().to_owned()];
        let found = async |from, to, most| {
            instance.events.between(Stream::Org, &kinds, (at(from), at(to)), most).await.unwrap()
        };
        assert_eq!(found(90, 30, 1_000).await.len(), 1_000);
        assert_eq!(found(180, 30, 1_000).await.len(), 1_000, "no more than there may be");
        assert_eq!(found(90, 30, 7).await.len(), 7);
        assert_eq!(found(54, 6, 1_000).await.len(), 0);
        assert!(found(90, 30, 1).await[0].fields.contains("1001"), "the oldest first");
        let span = (at(90), at(30));
        let last = instance.events.last_between(Stream::Org, &kinds, span, 2).await.unwrap();
        let fields: Vec<&str> = last.iter().map(|event| event.fields.as_str()).collect();
        assert!(matches!(fields[..], [one, two] if one.contains("1999") && two.contains("2000")), "{fields:?}");
        let all = instance.events.last_between(Stream::Org, &kinds, span, 1_000).await.unwrap();
        assert_eq!(all, found(90, 30, 1_000).await);
        // A statement looks through 1 000 of them, the next one through 2 000: what stands at either end is found.
        instance.db.write(async |tx| tx.execute(&RENAME, values![1_i64, 3_000_i64]).await).await.unwrap();
        let rare = ["rare".to_owned()];
        let ends = instance.events.between(Stream::Org, &rare, (at(180), at(-1)), 10).await.unwrap();
        let fields: Vec<&str> = ends.iter().map(|event| event.fields.as_str()).collect();
        assert!(matches!(fields[..], [first, last] if first.contains('1') && last.contains("3000")), "{fields:?}");
        let last = instance.events.last_between(Stream::Org, &rare, (at(180), at(-1)), 10).await.unwrap();
        assert_eq!(last, ends, "both ends, from the other side");
        let others = ["other".to_owned()];
        let none = instance.events.between(Stream::Org, &others, (at(180), at(0)), 10).await.unwrap();
        assert_eq!(none, []);
        let nobody = instance.events.between(Stream::User(user()), &kinds, (at(180), at(0)), 10).await;
        assert_eq!(nobody.unwrap(), [], "a stream without events");
        instance.stop().await;
    }

    async fn since_when_events_are_kept_is_known(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| options.kept_count = 10).await;
        assert_eq!(instance.events.kept_since(Stream::Org).await.unwrap(), None, "there are none");
        write(&instance, Stream::Org, 30).await;
        assert_eq!(instance.events.kept_since(Stream::Org).await.unwrap(), None, "all are kept");
        instance.db.write(async |tx| tx.execute(&AGE, values![AN_HOUR, 25]).await).await.unwrap();
        instance.events.clean_up().await.unwrap();
        let since = instance.events.kept_since(Stream::Org).await.unwrap().unwrap();
        let kinds = [numbered(1).kind().to_owned()];
        let span = (mainstay_base::Timestamp::from_millis(0), instance.db.now().await.unwrap());
        let kept = instance.events.between(Stream::Org, &kinds, span, 100).await.unwrap();
        assert_eq!((kept.len(), kept[0].at), (10, since));
        instance.stop().await;
    }
}
