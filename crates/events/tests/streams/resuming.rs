//! Coming back: from where the follower stood, or from anew with a reason; and history in pages.

use mainstay_base::SystemRng;
use mainstay_events::history::{MAX_HISTORY, MAX_HISTORY_BYTES};
use mainstay_events::{Ask, Events, EventsError, Kinds, Opening, ResetReason, Stream, Streams};
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{Instance, LONG, ask, ask_after, event, next, nothing_comes, number, say, user};

fn epoch_of(position: &impl ToString) -> String {
    position.to_string().split('.').next().unwrap().to_owned()
}

async fn reset_reason(instance: &Instance, after: &str) -> String {
    let (opening, feed) = instance.events.open(&ask_after(None, &after)).await.unwrap();
    let (_, fresh) = instance.events.open(&ask(None)).await.unwrap();
    match opening {
        Opening::Reset { reason } => {
            assert_eq!(feed.position(), fresh.position(), "a reset begins as a snapshot does");
            reason.to_string()
        }
        other => panic!("{after:?} opened as {other:?}"),
    }
}

each_database! {
    async fn a_follower_that_comes_back_misses_nothing(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = user();
        let (_, mut feed) = instance.events.open(&ask(Some(own))).await.unwrap();
        say(&instance.events, &[Stream::Org, Stream::User(own)], 1).await.unwrap();
        let first = next(&mut feed).await;
        drop(feed);
        for number in 2..=5 {
            say(&instance.events, &[Stream::Org, Stream::User(own)], number).await.unwrap();
        }
        let again = ask_after(Some(own), &first.position);
        let (opening, mut feed) = instance.events.open(&again).await.unwrap();
        assert_eq!(opening, Opening::Resumed);
        let (mut org, mut user) = (vec![], vec![]);
        for _ in 0..9 {
            let delivery = next(&mut feed).await;
            match delivery.stream {
                Stream::Org => org.push(number(&delivery)),
                Stream::User(_) => user.push(number(&delivery)),
            }
        }
        let (missed, all) = (vec![2, 3, 4, 5], vec![1, 2, 3, 4, 5]);
        let expected = if first.stream == Stream::Org { (missed, all) } else { (all, missed) };
        assert_eq!((org, user), expected);
        nothing_comes(&mut feed).await;
        instance.say(Stream::Org, 6).await;
        assert_eq!(number(&next(&mut feed).await), 6);
        instance.stop().await;
    }

    async fn a_place_of_no_use_is_told_with_its_reason(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        instance.say(Stream::Org, 1).await;
        let (_, feed) = instance.events.open(&ask(None)).await.unwrap();
        let epoch = epoch_of(&feed.position());
        for (after, reason) in [
            ("".to_owned(), "garbage"),
            ("nonsense".to_owned(), "garbage"),
            ("\u{1F600}".repeat(10_000), "garbage"),
            ("1.1'; DROP TABLE events; --.1".to_owned(), "garbage"),
            (format!("{epoch}.-1.0"), "garbage"),
            (format!("{epoch}.1"), "garbage"),
            ("0000000000000000.1.0".to_owned(), "epoch"),
            (format!("{epoch}.2.0"), "future"),
            (format!("{epoch}.{}.0", i64::MAX), "future"),
        ] {
            assert_eq!(reset_reason(&instance, &after).await, reason, "{after:.60}");
        }
        instance.stop().await;
    }

    async fn a_place_in_a_stream_that_is_not_asked_for_does_not_matter(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = user();
        let (_, feed) = instance.events.open(&ask(Some(own))).await.unwrap();
        let epoch = epoch_of(&feed.position());
        let only_org = |after| Ask {
            streams: Streams { org: true, user: false },
            ..ask_after(Some(own), &after)
        };
        let (opening, feed) =
            instance.events.open(&only_org(format!("{epoch}.0.77"))).await.unwrap();
        assert_eq!(opening, Opening::Resumed);
        assert_eq!(feed.position().to_string(), format!("{epoch}.0.77"));
        let both = ask_after(Some(own), &format!("{epoch}.0.77"));
        let (opening, _) = instance.events.open(&both).await.unwrap();
        assert_eq!(opening, Opening::Reset { reason: ResetReason::Future });
        instance.stop().await;
    }

    async fn a_new_epoch_ends_followers_and_refuses_old_places(database: &TestDatabase) {
        let instance = Instance::start_with(database, |options| {
            options.sweep = std::time::Duration::from_millis(20);
        }).await;
        instance.say(Stream::Org, 1).await;
        let (_, mut feed) = instance.events.open(&ask(None)).await.unwrap();
        let old = feed.position().to_string();
        let epoch = Events::renew_epoch(&instance.db, &SystemRng).await.unwrap();
        let ended = tokio::time::timeout(LONG, feed.next()).await.unwrap();
        assert!(matches!(ended, Err(EventsError::EpochChanged)), "{ended:?}");
        assert_eq!(reset_reason(&instance, &old).await, "epoch");
        let (_, mut feed) = instance.events.open(&ask(None)).await.unwrap();
        assert_eq!(epoch_of(&feed.position()), epoch);
        instance.say(Stream::Org, 2).await;
        assert_eq!(number(&next(&mut feed).await), 2);
        instance.stop().await;
    }

    async fn history_gives_every_event_in_pages(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = user();
        for number in 0..10 {
            let stream = if number % 3 == 0 { Stream::User(own) } else { Stream::Org };
            instance.say(stream, number).await;
        }
        let mut asked = ask(Some(own));
        let mut seen = Vec::new();
        loop {
            let history = instance.events.history(&asked, 3).await.unwrap();
            assert!(history.events.len() <= 3);
            seen.extend(history.events.iter().map(|one| (one.stream, one.seq, number(one))));
            asked = ask_after(Some(own), &history.position);
            if !history.has_more {
                break;
            }
        }
        let of = |stream| -> Vec<_> {
            seen.iter().filter(|one| one.0 == stream).map(|one| (one.1, one.2)).collect()
        };
        assert_eq!(of(Stream::Org), [(1, 1), (2, 2), (3, 4), (4, 5), (5, 7), (6, 8)]);
        assert_eq!(of(Stream::User(own)), [(1, 0), (2, 3), (3, 6), (4, 9)]);
        let rest = instance.events.history(&asked, 3).await.unwrap();
        assert!(rest.events.is_empty() && !rest.has_more);
        let (_, mut feed) = instance.events.open(&asked).await.unwrap();
        instance.say(Stream::Org, 10).await;
        assert_eq!(number(&next(&mut feed).await), 10);
        instance.stop().await;
    }

    async fn history_finds_rare_kinds_and_tells_of_a_reset(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let written: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            for number in 0..100 {
                let kind = if number == 90 { "rare" } else { "common" };
                outbox.add(Stream::Org, event(kind, &json!({ "number": number })))?;
            }
            Ok(())
        }).await;
        written.unwrap();
        let rare = Ask { kinds: Some(Kinds::new(["rare"]).unwrap()), ..ask(None) };
        let history = instance.events.history(&rare, 20).await.unwrap();
        assert_eq!(history.events.iter().map(number).collect::<Vec<_>>(), [90]);
        assert!(!history.has_more);
        let wrong = instance.events.history(&ask_after(None, &"x"), 20).await.unwrap();
        assert_eq!(wrong.opening, Opening::Reset { reason: ResetReason::Garbage });
        assert!(wrong.events.is_empty());
        instance.stop().await;
    }

    async fn one_rare_event_is_found_among_thousands_at_once(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let written: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
            for number in 0..3_000 {
                let kind = if number == 2_900 { "rare" } else { "common" };
                outbox.add(Stream::Org, event(kind, &json!({ "number": number })))?;
            }
            Ok(())
        }).await;
        written.unwrap();
        let rare = Ask { kinds: Some(Kinds::new(["rare"]).unwrap()), ..ask(None) };
        let history = instance.events.history(&rare, 1).await.unwrap();
        assert_eq!(history.events.iter().map(number).collect::<Vec<_>>(), [2_900]);
        assert_eq!(history.events[0].position, history.position);
        assert!(history.has_more, "common ones follow");
        instance.stop().await;
    }

    async fn an_answer_of_large_events_is_bounded_in_bytes(database: &TestDatabase) {
        let instance = Instance::start(database).await;
        let own = user();
        let text = "x".repeat(60_000);
        for _ in 0..3 {
            let written: Result<(), EventsError> = instance.events.write(async |_tx, outbox| {
                for number in 0..20 {
                    let large = json!({ "number": number, "text": text });
                    outbox.add(Stream::Org, event("large", &large))?;
                    outbox.add(Stream::User(own), event("large", &large))?;
                }
                Ok(())
            }).await;
            written.unwrap();
        }
        let mut asked = ask(Some(own));
        let mut counts = Vec::new();
        loop {
            let history = instance.events.history(&asked, MAX_HISTORY).await.unwrap();
            let sizes: Vec<_> = history.events.iter().map(|one| one.frame.len()).collect();
            let (last, before) = sizes.split_last().unwrap();
            assert!(before.iter().sum::<usize>() < MAX_HISTORY_BYTES, "{last} more");
            counts.push(sizes.len());
            asked = Ask { after: Some(history.position.to_string()), ..asked };
            if !history.has_more {
                break;
            }
        }
        assert_eq!(counts.iter().sum::<usize>(), 120, "{counts:?}");
        instance.stop().await;
    }
}
