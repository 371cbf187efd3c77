//! Several instances on one PostgreSQL: bells between them, and what happens when they fail.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Secret, SystemClock};
use mainstay_events::{Heard, Stream, Topic};
use mainstay_store::{Db, Dialect, Sql, Target};
use mainstay_testkit::{SlowProxy, TestDatabase};

use crate::house::{Instance, LONG, NEVER, ask, next, number, say, user};

const SHORT: Duration = Duration::from_millis(50);

const LISTENERS: Sql = Sql::same(
    "test.listeners",
    "SELECT count(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN%'",
);
const KILL_LISTENERS: Sql = Sql::same(
    "test.kill_listeners",
    "SELECT count(pg_terminate_backend(pid)) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN%'",
);
const KILL_OTHERS: Sql = Sql::same(
    "test.kill_others",
    "SELECT count(pg_terminate_backend(pid)) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()",
);

async fn count(db: &Db, sql: &Sql) -> i64 {
    db.fetch_one(sql, &[]).await.unwrap().get("count").unwrap()
}

/// Until `instances` listen: from then on bells are heard.
async fn all_listen(db: &Db, instances: i64) {
    let listening = async {
        while count(db, &LISTENERS).await < instances {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, listening).await.expect("every instance listens");
}

/// An instance whose sessions of its own go by way of `proxy`.
async fn start_behind(database: &TestDatabase, proxy: &str, sweep: Duration) -> Instance {
    let Target::Postgres { url } = database.through(proxy) else { unreachable!() };
    let direct: Secret<String> = url;
    let clock = Arc::new(SystemClock::new());
    let db =
        database.open_with(Arc::clone(&clock) as _, |options| options.direct = Some(direct)).await;
    Instance::start_on(db, clock, |options| options.sweep = sweep).await
}

async fn never_sweeping(database: &TestDatabase) -> Instance {
    Instance::start_with(database, |options| options.sweep = NEVER).await
}

/// Until one hears the other: by then its listening connection has told that it came up, which may have been
/// anything.
async fn hears(here: &Instance, there: &Instance) {
    let mut ears = here.events.doorbell().listen(Topic::Jobs);
    let hearing = async {
        for turn in 0_u32.. {
            let key = format!("probe {turn}");
            there.events.doorbell().ring(Topic::Jobs, &key);
            let heard = async { while !is_told(&ears.heard().await, &key) {} };
            if tokio::time::timeout(4 * SHORT, heard).await.is_ok() {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, hearing).await.expect("one hears the other");
}

fn is_told(heard: &Heard, key: &str) -> bool {
    match heard {
        Heard::Keys(keys) => keys.contains(key),
        Heard::Anything => false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bell_tells_the_other_instance() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let (here, there) = (never_sweeping(&database).await, never_sweeping(&database).await);
    all_listen(&here.db, 2).await;
    let own = user();
    let (_, mut feed) = here.events.open(&ask(Some(own))).await.unwrap();
    for expected in 0..20 {
        let stream = if expected % 2 == 0 { Stream::Org } else { Stream::User(own) };
        there.say(stream, expected).await;
        assert_eq!(number(&next(&mut feed).await), expected);
    }
    here.stop().await;
    there.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_topic_is_heard_elsewhere_and_our_own_bells_come_once() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let (here, there) = (never_sweeping(&database).await, never_sweeping(&database).await);
    hears(&here, &there).await;
    hears(&there, &here).await;
    for topic in Topic::ALL {
        let mut ours = here.events.doorbell().listen(topic);
        let mut theirs = there.events.doorbell().listen(topic);
        here.events.doorbell().ring(topic, "org");
        assert!(is_told(&ours.heard().await, "org"));
        let hearing = async { while !is_told(&theirs.heard().await, "org") {} };
        tokio::time::timeout(LONG, hearing).await.expect("the other instance hears");
        let again = tokio::time::timeout(SHORT, ours.heard()).await;
        assert!(again.is_err(), "{topic:?} came back as {again:?}");
    }
    here.stop().await;
    there.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_listener_is_made_anew_and_finds_what_it_missed() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let (here, there) = (never_sweeping(&database).await, never_sweeping(&database).await);
    let (_, mut feed) = here.events.open(&ask(None)).await.unwrap();
    let mut expected = 0;
    for _ in 0..3 {
        all_listen(&here.db, 2).await;
        count(&here.db, &KILL_LISTENERS).await;
        for _ in 0..5 {
            there.say(Stream::Org, expected).await;
            assert_eq!(number(&next(&mut feed).await), expected);
            expected += 1;
        }
    }
    here.stop().await;
    there.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_connection_killed_costs_no_event() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let here = Instance::start_with(&database, |options| options.sweep = SHORT).await;
    let watching = database.open().await;
    let (_, mut feed) = here.events.open(&ask(None)).await.unwrap();
    let mut written = 0;
    for _ in 0..5 {
        count(&watching, &KILL_OTHERS).await;
        let mut done = 0;
        while done < 10 {
            // A write that met a dead connection is known not to have happened, and is tried again.
            if say(&here.events, &[Stream::Org], written).await.is_ok() {
                written += 1;
                done += 1;
            }
        }
    }
    for expected in 0..written {
        assert_eq!(number(&next(&mut feed).await), expected);
    }
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bells_that_can_not_be_rung_cost_delay_only() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    // Nobody answers there: this one neither rings nor hears.
    let mute = start_behind(&database, "127.0.0.1:9", NEVER).await;
    let here = Instance::start_with(&database, |options| options.sweep = SHORT).await;
    let (_, mut feed) = here.events.open(&ask(None)).await.unwrap();
    for expected in 0..5 {
        mute.say(Stream::Org, expected).await;
        assert_eq!(number(&next(&mut feed).await), expected);
    }
    mute.stop().await;
    here.stop().await;
}

/// What the metrics say, summed over their labels.
fn metric(rendered: &str, name: &str) -> f64 {
    let lines = rendered.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[tokio::test]
async fn a_listener_that_seems_deaf_is_replaced() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let database = TestDatabase::new(Dialect::Postgres).await;
    let mute = start_behind(&database, "127.0.0.1:9", NEVER).await;
    let here = Instance::start_with(&database, |options| options.sweep = SHORT).await;
    all_listen(&here.db, 1).await;
    let (_, mut feed) = here.events.open(&ask(None)).await.unwrap();
    let replacing = async {
        for expected in 0.. {
            mute.say(Stream::Org, expected).await;
            assert_eq!(number(&next(&mut feed).await), expected);
            if metric(&handle.render(), "mainstay_events_listener_replaced_total") > 0.0 {
                break;
            }
        }
    };
    tokio::time::timeout(LONG, replacing).await.expect("it is replaced");
    assert!(metric(&handle.render(), "mainstay_events_bells_lost_total") >= 3.0);
    all_listen(&here.db, 1).await;
    mute.stop().await;
    here.stop().await;
}

/// Its connections of its own lead to another database, where nobody rings: it connects, its questions
/// are answered, and it hears nothing. No stream is followed, as in a process that only runs jobs.
#[tokio::test]
async fn a_deaf_listener_is_replaced_where_nobody_follows() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let database = TestDatabase::new(Dialect::Postgres).await;
    let elsewhere = TestDatabase::new(Dialect::Postgres).await;
    let Target::Postgres { url } = elsewhere.target().clone() else { unreachable!() };
    let clock = Arc::new(SystemClock::new());
    let db =
        database.open_with(Arc::clone(&clock) as _, |options| options.direct = Some(url)).await;
    let here = Instance::start_on(db, clock, |options| options.sweep = NEVER).await;
    let there = never_sweeping(&database).await;
    all_listen(&elsewhere.open().await, 1).await;
    let mut ears = here.events.doorbell().listen(Topic::Jobs);
    there.events.doorbell().ring(Topic::Jobs, "work");
    // A listening connection that has just come up tells of anything: the first one, and the one after it.
    let replacing = async {
        while metric(&handle.render(), "mainstay_events_listener_replaced_total") < 1.0 {
            assert_eq!(ears.heard().await, Heard::Anything, "the bell itself was not heard");
        }
    };
    tokio::time::timeout(LONG, replacing).await.expect("it is replaced");
    let rendered = handle.render();
    assert_eq!(metric(&rendered, "mainstay_events_listener_replaced_total"), 1.0);
    assert_eq!(metric(&rendered, "mainstay_events_bells_lost_total"), 1.0);
    here.stop().await;
    there.stop().await;
}

/// It is asked for longer than one that is deaf would be kept.
#[tokio::test]
async fn a_listener_that_hears_its_marks_is_kept() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let database = TestDatabase::new(Dialect::Postgres).await;
    let (here, there) = (never_sweeping(&database).await, never_sweeping(&database).await);
    hears(&here, &there).await;
    let mut ears = here.events.doorbell().listen(Topic::Jobs);
    let heard = tokio::time::timeout(Duration::from_secs(12), ears.heard()).await;
    assert!(heard.is_err(), "marks are told to nobody: {heard:?}");
    assert_eq!(metric(&handle.render(), "mainstay_events_listener_replaced_total"), 0.0);
    here.stop().await;
    there.stop().await;
}

#[tokio::test]
async fn a_listener_that_hears_is_not_replaced_and_loses_nothing() {
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let handle = recorder.handle();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let database = TestDatabase::new(Dialect::Postgres).await;
    let there = never_sweeping(&database).await;
    let here = Instance::start_with(&database, |options| options.sweep = 6 * SHORT).await;
    all_listen(&here.db, 2).await;
    let (_, mut feed) = here.events.open(&ask(None)).await.unwrap();
    for expected in 0..50 {
        there.say(Stream::Org, expected).await;
        assert_eq!(number(&next(&mut feed).await), expected);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let rendered = handle.render();
    assert_eq!(metric(&rendered, "mainstay_events_listener_replaced_total"), 0.0);
    assert!(metric(&rendered, "mainstay_events_bells_heard_total") > 0.0);
    assert_eq!(metric(&rendered, "mainstay_events_written_total"), 50.0);
    assert_eq!(metric(&rendered, "mainstay_events_followers{"), 1.0);
    here.stop().await;
    there.stop().await;
}

/// The listener's peer is silent; its own questions show that, and a new connection hears again.
#[tokio::test(flavor = "multi_thread")]
async fn a_listener_behind_a_dead_line_is_replaced_and_nothing_is_lost() {
    let database = TestDatabase::new(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let here = start_behind(&database, proxy.address(), SHORT).await;
    let there = Instance::start(&database).await;
    all_listen(&there.db, 2).await;
    let (_, mut feed) = here.events.open(&ask(None)).await.unwrap();
    proxy.freeze();
    for expected in 0..20 {
        there.say(Stream::Org, expected).await;
        assert_eq!(number(&next(&mut feed).await), expected);
    }
    proxy.thaw();
    for expected in 20..40 {
        there.say(Stream::Org, expected).await;
        assert_eq!(number(&next(&mut feed).await), expected);
    }
    here.stop().await;
    there.stop().await;
}
