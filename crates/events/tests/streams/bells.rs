//! What goes over PostgreSQL's channels: as the source shows it, at once, and not too often.

use std::time::Duration;

use mainstay_base::{Clock as _, SystemClock};
use mainstay_events::{EventsError, Heard, Stream, Topic};
use mainstay_store::{Dialect, Listener};
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};

use crate::house::{Instance, LONG, event, user};

/// The shortest time between two rounds of bells.
const PAUSE: Duration = Duration::from_millis(10);
const RINGS: usize = 2_000;

async fn heard(listener: &mut Listener) -> String {
    tokio::time::timeout(LONG, listener.next()).await.expect("a bell").unwrap().payload
}

/// Who rang a bell that carries a key, and the key.
async fn heard_by(listener: &mut Listener) -> (String, String) {
    let payload = heard(listener).await;
    let (by, key) = payload.split_once(' ').expect("a bell says who rang it");
    (by.to_owned(), key.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_told_as_the_source_shows_it() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let instance = Instance::start(&database).await;
    let mut listener = Listener::connect(&instance.db, &["state_changes"]).await.unwrap().unwrap();
    let own = user();
    let written: Result<(), EventsError> = instance
        .events
        .write(async |_tx, outbox| {
            let fields = json!({"worker_id": "w1", "status": "error"});
            outbox.add(Stream::User(own), event("worker_state_changed", &fields))?;
            outbox.add(Stream::Org, event("large", &json!({"text": "x".repeat(8_000)})))?;
            Ok(())
        })
        .await;
    written.unwrap();
    let mut told: Vec<Value> = Vec::new();
    while told.len() < 2 {
        told.push(serde_json::from_str(&heard(&mut listener).await).unwrap());
    }
    let by: Vec<Value> = told
        .iter_mut()
        .map(|one| one.as_object_mut().unwrap().remove("rung_by").unwrap())
        .collect();
    assert_eq!(by[0], by[1], "both were rung by the same instance");
    assert_eq!(
        told,
        [
            json!({"stream": "org", "seq": 1}),
            json!({
                "user_id": own.to_string(), "type": "worker_state_changed", "worker_id": "w1",
                "status": "error", "stream": format!("user:{own}"), "seq": 1,
            }),
        ]
    );
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bells_are_rung_at_once_and_then_now_and_then() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let instance = Instance::start(&database).await;
    let mut listener = Listener::connect(&instance.db, &["mainstay_jobs"]).await.unwrap().unwrap();
    let clock = SystemClock::new();
    let began = clock.moment();
    for _ in 0..RINGS {
        instance.events.doorbell().ring(Topic::Jobs, "mail");
        tokio::task::yield_now().await;
    }
    instance.events.doorbell().ring(Topic::Jobs, "last");
    let mut count = 0_u128;
    while heard_by(&mut listener).await.1 != "last" {
        count += 1;
    }
    let rounds = clock.moment().since(began).as_millis() / PAUSE.as_millis() + 2;
    assert!(count <= rounds, "{count} bells in {rounds} rounds");
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_bell_is_no_harm() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let instance = Instance::start_with(&database, |options| {
        options.sweep = crate::house::NEVER;
    })
    .await;
    let (_, mut feed) = instance.events.open(&crate::house::ask(None)).await.unwrap();
    let mut notifier = mainstay_store::Notifier::connect(&instance.db).await.unwrap().unwrap();
    for payload in [
        "",
        "{",
        "[]",
        r#"{\"stream\":7}"#,
        r#"{\"stream\":\"org\",\"seq\":9000000000000000000}"#,
        r#"{\"user_id\":\"x\"}"#,
    ] {
        notifier.ring(&format!(r#"[["state_changes","{payload}"]]"#)).await.unwrap();
    }
    for expected in 0..5 {
        instance.say(Stream::Org, expected).await;
        assert_eq!(crate::house::number(&crate::house::next(&mut feed).await), expected);
    }
    instance.stop().await;
}

/// Which server process a bell came from tells nothing: another instance may have it next.
#[tokio::test(flavor = "multi_thread")]
async fn our_own_bells_are_known_by_their_mark_whatever_process_rang_them() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let instance = Instance::start_with(&database, |options| {
        options.sweep = crate::house::NEVER;
    })
    .await;
    let mut listener = Listener::connect(&instance.db, &["mainstay_jobs"]).await.unwrap().unwrap();
    let mut ears = instance.events.doorbell().listen(Topic::Jobs);
    let mut notifier = mainstay_store::Notifier::connect(&instance.db).await.unwrap().unwrap();
    let other = user();
    // Until its own listening connection stands it hears nothing from elsewhere.
    let probe = [("mainstay_jobs", format!("{other} probe"))];
    let probe = serde_json::to_string(&probe).unwrap();
    let mut is_listening = false;
    while !is_listening {
        notifier.ring(&probe).await.unwrap();
        let heard = tokio::time::timeout(Duration::from_millis(100), ears.heard()).await;
        is_listening = matches!(heard, Ok(Heard::Keys(keys)) if keys.contains("probe"));
    }
    instance.events.doorbell().ring(Topic::Jobs, "here");
    let by = loop {
        let (by, key) = heard_by(&mut listener).await;
        if key == "here" {
            break by;
        }
    };
    let bells =
        [("mainstay_jobs", format!("{by} ours")), ("mainstay_jobs", format!("{other} theirs"))];
    notifier.ring(&serde_json::to_string(&bells).unwrap()).await.unwrap();
    let mut keys = std::collections::BTreeSet::new();
    while !keys.contains("theirs") {
        match tokio::time::timeout(LONG, ears.heard()).await.expect("it is heard") {
            Heard::Keys(heard) => keys.extend(heard),
            Heard::Anything => panic!("nothing was lost"),
        }
    }
    keys.remove("probe");
    assert_eq!(keys.into_iter().collect::<Vec<_>>(), ["here", "theirs"]);
    instance.stop().await;
}
