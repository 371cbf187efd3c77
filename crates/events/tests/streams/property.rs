//! Whatever writers, failures, kills, reconnects and slow readers do: every follower sees exactly the
//! committed sequence. `PROPTEST_CASES` makes it longer.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_events::{Delivery, Events, EventsError, Feed, Opening, Stream};
use mainstay_store::{Dialect, Sql, StoreError};
use mainstay_testkit::{TestDatabase, drop_at_await};
use proptest::prelude::*;
use serde_json::Value;
use tokio::sync::watch;

use crate::house::{Instance, LONG, ask, ask_after, data, event, log, user};

/// As many as a usual run has time for.
const CASES: u32 = 6;
/// Between two kills of the listeners.
const KILL_PAUSE: Duration = Duration::from_millis(30);

const KILL_LISTENERS: Sql = Sql::same(
    "test.kill_listeners",
    "SELECT count(pg_terminate_backend(pid)) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND query LIKE 'LISTEN%'",
);

#[derive(Debug, Clone)]
struct Plan {
    writers: Vec<Vec<Write>>,
    followers: Vec<Follower>,
    kills: usize,
}

/// One write: how many events for each stream, and how it ends.
#[derive(Debug, Clone)]
struct Write {
    org: usize,
    own: usize,
    end: WriteEnd,
}

#[derive(Debug, Clone, Copy)]
enum WriteEnd {
    Commit,
    Fail,
    HangUpAt(usize),
}

/// How a follower reads: so many events on each connection, then it comes back elsewhere.
#[derive(Debug, Clone)]
struct Follower {
    reads: Vec<usize>,
    /// It first reads when everything is written.
    is_late: bool,
    hangs_up_at: usize,
}

fn plans() -> impl Strategy<Value = Plan> {
    let end = prop_oneof![
        6 => Just(WriteEnd::Commit),
        1 => Just(WriteEnd::Fail),
        1 => (0_usize..12).prop_map(WriteEnd::HangUpAt),
    ];
    let write = (0_usize..40, 0_usize..4, end).prop_map(|(org, own, end)| Write { org, own, end });
    let writers = prop::collection::vec(prop::collection::vec(write, 1..12), 1..6);
    let follower = (prop::collection::vec(1_usize..200, 1..5), any::<bool>(), 0_usize..4)
        .prop_map(|(reads, is_late, hangs_up_at)| Follower { reads, is_late, hangs_up_at });
    let followers = prop::collection::vec(follower, 1..6);
    (writers, followers, 0_usize..4).prop_map(|(writers, followers, kills)| Plan {
        writers,
        followers,
        kills,
    })
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: CASES, max_shrink_iters: 50, failure_persistence: None, ..default }
}

async fn write(events: &Events, own: Stream, write: &Write, name: &str) {
    let writing = events.write(async |_tx, outbox| {
        for number in 0..write.org {
            outbox
                .add(Stream::Org, event("made", &serde_json::json!({ "by": name, "n": number })))?;
        }
        for number in 0..write.own {
            outbox.add(own, event("made", &serde_json::json!({ "by": name, "n": number })))?;
        }
        match write.end {
            WriteEnd::Fail => Err(EventsError::Store(StoreError::Closed)),
            WriteEnd::Commit | WriteEnd::HangUpAt(_) => Ok(()),
        }
    });
    match write.end {
        WriteEnd::HangUpAt(awaits) => drop(drop_at_await(awaits, writing).await),
        WriteEnd::Fail => assert!(writing.await.is_err()),
        WriteEnd::Commit => writing.await.unwrap(),
    }
}

/// What a follower has seen of one stream.
type Seen = Vec<(i64, Value)>;

struct Following {
    own: Id,
    org_seen: Seen,
    own_seen: Seen,
    ended: usize,
}

impl Following {
    /// The closing event of each stream says that all was seen.
    fn note(&mut self, delivery: &Delivery) {
        let mut fields = data(delivery);
        if fields["type"] == "closed" {
            self.ended += 1;
        }
        for field in ["type", "seq", "stream", "at"] {
            fields.as_object_mut().unwrap().remove(field);
        }
        let seen = match delivery.stream {
            Stream::Org => &mut self.org_seen,
            Stream::User(id) => {
                assert_eq!(id, self.own);
                &mut self.own_seen
            }
        };
        seen.push((delivery.seq, fields));
    }

    async fn read(&mut self, feed: &mut Feed, most: usize, hangs_up_at: usize) {
        for _ in 0..most {
            if self.ended == 2 {
                return;
            }
            // A client that hangs up in the middle of a wait loses nothing.
            let at_hand = drop_at_await(hangs_up_at, feed.next()).await;
            let delivery = match at_hand {
                Some(delivery) => delivery.unwrap(),
                None => tokio::time::timeout(LONG, feed.next()).await.expect("more").unwrap(),
            };
            self.note(&delivery);
        }
    }
}

async fn follow(
    instances: Arc<Vec<Events>>,
    own: Id,
    plan: Follower,
    first: Feed,
    mut done: watch::Receiver<bool>,
) -> Following {
    let mut following = Following { own, org_seen: vec![], own_seen: vec![], ended: 0 };
    let mut feed = first;
    if plan.is_late {
        done.wait_for(|done| *done).await.unwrap();
    }
    for (turn, most) in plan.reads.iter().cycle().enumerate() {
        following.read(&mut feed, *most, plan.hangs_up_at).await;
        if following.ended == 2 {
            break;
        }
        let after = feed.position();
        drop(feed);
        let events = &instances[turn % instances.len()];
        let (opening, again) = events.open(&ask_after(Some(own), &after)).await.unwrap();
        assert_eq!(opening, Opening::Resumed);
        feed = again;
    }
    following
}

async fn run(dialect: Dialect, plan: Plan) {
    let database = TestDatabase::new(dialect).await;
    let count = if dialect == Dialect::Postgres { 2 } else { 1 };
    let mut started = Vec::new();
    for _ in 0..count {
        let sweep = Duration::from_millis(100);
        started.push(Instance::start_with(&database, |options| options.sweep = sweep).await);
    }
    let instances: Arc<Vec<_>> =
        Arc::new(started.iter().map(|instance| instance.events.clone()).collect());
    let own = user();
    let (say_done, done) = watch::channel(false);
    let mut followers = Vec::new();
    for (turn, follower) in plan.followers.iter().enumerate() {
        let (_, feed) = instances[turn % count].open(&ask(Some(own))).await.unwrap();
        let instances = Arc::clone(&instances);
        followers.push(tokio::spawn(follow(instances, own, follower.clone(), feed, done.clone())));
    }
    let writers: Vec<_> = plan
        .writers
        .into_iter()
        .enumerate()
        .map(|(turn, writes)| {
            let events = instances[turn % count].clone();
            tokio::spawn(async move {
                for (number, one) in writes.iter().enumerate() {
                    write(&events, Stream::User(own), one, &format!("{turn}-{number}")).await;
                }
            })
        })
        .collect();
    if dialect == Dialect::Postgres {
        for _ in 0..plan.kills {
            started[0].db.fetch_one(&KILL_LISTENERS, &[]).await.unwrap();
            tokio::time::sleep(KILL_PAUSE).await;
        }
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let closed: Result<(), EventsError> = instances[0]
        .write(async |_tx, outbox| {
            for stream in [Stream::Org, Stream::User(own)] {
                outbox.add(stream, event("closed", &serde_json::json!({})))?;
            }
            Ok(())
        })
        .await;
    closed.unwrap();
    say_done.send_replace(true);
    for follower in followers {
        let following = tokio::time::timeout(LONG, follower).await.expect("it ends").unwrap();
        assert_eq!(following.org_seen, log(&started[0].db, Stream::Org).await);
        assert_eq!(following.own_seen, log(&started[0].db, Stream::User(own)).await);
    }
    for instance in started {
        instance.stop().await;
    }
}

fn on_a_runtime(dialect: Dialect, plan: Plan) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(dialect, plan));
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_follower_sees_exactly_what_was_committed_on_sqlite(plan in plans()) {
        on_a_runtime(Dialect::Sqlite, plan);
    }

    #[test]
    fn every_follower_sees_exactly_what_was_committed_on_postgres(plan in plans()) {
        on_a_runtime(Dialect::Postgres, plan);
    }
}
