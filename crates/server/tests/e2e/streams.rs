//! Everybody who follows, on either of two processes, gets every event once and in order, whatever
//! happens to the processes, to PostgreSQL's connections and to the bytes between them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use mainstay_base::{SystemClock, SystemRng};
use mainstay_events::{Event, Events, EventsError, EventsOptions, Stream};
use mainstay_store::{Db, Dialect, Sql};
use mainstay_testkit::{SlowProxy, TestDatabase};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client::{get, request};
use crate::people::{post, set_up, signed};
use crate::process::{Server, mainstay};

/// Says how many events are written; the long proof writes more.
const COUNT_VARIABLE: &str = "MAINSTAY_TEST_EVENTS";
/// Says how to restart the test's own PostgreSQL, which the long proof also does.
const RESTART_VARIABLE: &str = "MAINSTAY_TEST_POSTGRES_RESTART";
const FEW_EVENTS: u64 = 5_000;
const WRITERS: u64 = 4;
/// Events of one write.
const TOGETHER: u64 = 10;
/// Each kind of fault comes twice.
const LEAST_FAULTS: u32 = 12;
const BETWEEN_FAULTS: Duration = Duration::from_millis(300);
/// A stream in which nothing comes for so long is opened anew.
const SILENCE: Duration = Duration::from_secs(40);
const PEPPER: &str = "the same pepper for both of them, and long";

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

/// One who follows, and comes back with the last id whenever the stream ends.
struct Follower {
    address: String,
    token: String,
    last_id: Option<String>,
    seen: Vec<u64>,
}

impl Follower {
    /// Reads until the event with the number `until` has come.
    fn read(mut self, until: &AtomicU64) -> Vec<u64> {
        loop {
            let end = until.load(Ordering::SeqCst);
            if end > 0 && self.seen.last().is_some_and(|last| *last >= end) {
                return self.seen;
            }
            // A stream that is lost is what this is about.
            let _ = self.follow(until);
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn follow(&mut self, until: &AtomicU64) -> std::io::Result<()> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(SILENCE))?;
        let resume =
            self.last_id.as_ref().map_or(String::new(), |id| format!("last-event-id: {id}\r\n"));
        // HTTP/1.0, so that no chunks stand between the lines.
        write!(
            stream,
            "GET /api/events?streams=org HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer {}\r\n{resume}\r\n",
            self.address, self.token
        )?;
        for line in BufReader::new(stream).lines() {
            let line = line?;
            assert!(line != "event: reset", "nothing may be given up");
            if let Some(id) = line.strip_prefix("id: ") {
                self.last_id = Some(id.to_owned());
            } else if let Some(data) = line.strip_prefix("data: {\"type\"") {
                let (_, seq) = data.rsplit_once("\"seq\":").unwrap();
                let digits = seq.split(',').next().unwrap();
                self.seen.push(digits.parse().unwrap());
                let end = until.load(Ordering::SeqCst);
                if end > 0 && self.seen.last().is_some_and(|last| *last >= end) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Writes its share, and more until there were faults enough; a write that a fault has hit is done
/// again.
async fn write(events: Events, writes: u64, enough: Arc<AtomicBool>) {
    for number in 0.. {
        if number >= writes && enough.load(Ordering::SeqCst) {
            return;
        }
        loop {
            let writing = events.write(async |_, out| {
                for part in 0..TOGETHER {
                    let fields = json!({ "number": number * TOGETHER + part });
                    out.add(Stream::Org, Event::new("told", fields.as_object().unwrap())?)?;
                }
                Ok::<_, EventsError>(())
            });
            if writing.await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// One fault after the other until the writers are done.
struct Faults<'a> {
    database: &'a TestDatabase,
    proxy: &'a SlowProxy,
    restart: Option<String>,
    /// There were [`LEAST_FAULTS`].
    enough: Arc<AtomicBool>,
}

impl Faults<'_> {
    async fn go_on(&self, second: &mut Server, again: impl Fn(&str) -> Server, done: &AtomicBool) {
        let db = self.database.open().await;
        for round in 0_u32.. {
            self.enough.store(round >= LEAST_FAULTS, Ordering::SeqCst);
            if done.load(Ordering::SeqCst) {
                break;
            }
            match round % 6 {
                0 => self.kill(&db, &KILL_LISTENERS).await,
                1 => self.proxy.swallow(1),
                2 => self.proxy.freeze(),
                3 => self.kill(&db, &KILL_OTHERS).await,
                4 => {
                    let address = second.address.clone();
                    second.signal("KILL");
                    second.wait();
                    *second = again(&address);
                }
                _ => self.restart_postgres(),
            }
            tokio::time::sleep(BETWEEN_FAULTS).await;
            self.proxy.thaw();
        }
        db.close().await;
    }

    async fn kill(&self, db: &Db, sql: &Sql) {
        // The one that kills may be gone itself after a restart, and comes again.
        let _ = db.fetch_one(sql, &[]).await;
    }

    fn restart_postgres(&self) {
        if let Some(command) = &self.restart {
            let restarted = Command::new("sh").args(["-c", command]).status().unwrap();
            assert!(restarted.success(), "{command}");
        }
    }
}

fn token(address: &str, session: &str, name: &str) -> String {
    let body = json!({"name": name, "scope": "read"});
    let made = post(address, "/api/account/tokens", session, &body);
    made.json()["token"].as_str().unwrap_or_else(|| panic!("{}", made.text())).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_doubled_or_out_of_order() {
    let count = std::env::var(COUNT_VARIABLE).map_or(FEW_EVENTS, |text| text.parse().unwrap());
    let database = TestDatabase::new(Dialect::Postgres).await;
    let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
    let mainstay_store::Target::Postgres { url: direct } = database.through(proxy.address()) else {
        unreachable!("it is PostgreSQL")
    };
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let start = |folder: &tempfile::TempDir, listen: &str, direct: Option<&str>| {
        let mut command = mainstay(folder.path());
        command
            .args(["serve", "--listen", listen, "--database", &database.address()])
            .env("TOKEN_HASH_PEPPER", PEPPER)
            .envs(direct.map(|direct| ("DATABASE_DIRECT_URL", direct)));
        Server::spawn(command)
    };
    // One as most are set up, and one that hears through the proxy.
    let first = start(&folders[0], "127.0.0.1:0", None);
    let mut second = start(&folders[1], "127.0.0.1:0", Some(direct.expose()));
    let session = signed(&first.address, &set_up(&first));

    let until = Arc::new(AtomicU64::new(0));
    let followers: Vec<_> = [&first.address, &first.address, &second.address, &second.address]
        .into_iter()
        .enumerate()
        .map(|(number, address)| {
            let token = token(&first.address, &session, &format!("follower {number}"));
            let bearer = format!("authorization: Bearer {token}\r\n");
            // Nothing has been written yet, so that everybody begins at the beginning.
            let begin = request(address, "GET", "/api/events/history", &bearer).json();
            let last_id = Some(begin["position"].as_str().unwrap().to_owned());
            let follower = Follower { address: address.clone(), token, last_id, seen: Vec::new() };
            let until = Arc::clone(&until);
            std::thread::spawn(move || follower.read(&until))
        })
        .collect();

    let db = database.open().await;
    let stop = CancellationToken::new();
    let starting = Events::start(
        db.clone(),
        EventsOptions::default(),
        Arc::new(SystemClock::new()),
        Arc::new(SystemRng),
        stop.clone(),
    );
    let (events, tasks) = starting.await.unwrap();
    let done = AtomicBool::new(false);
    let restart = std::env::var(RESTART_VARIABLE).ok();
    let enough = Arc::new(AtomicBool::new(false));
    let faults =
        Faults { database: &database, proxy: &proxy, restart, enough: Arc::clone(&enough) };
    let writers = async {
        let share = count.div_ceil(WRITERS * TOGETHER);
        let write = |_| tokio::spawn(write(events.clone(), share, Arc::clone(&enough)));
        let writing = (0..WRITERS).map(write);
        for writer in writing.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        done.store(true, Ordering::SeqCst);
    };
    let again = |listen: &str| start(&folders[1], listen, Some(direct.expose()));
    tokio::join!(writers, faults.go_on(&mut second, again, &done));

    let last =
        events.open(&mainstay_events::Ask::default()).await.unwrap().1.position().to_string();
    let last: u64 = last.split('.').nth(1).unwrap().parse().unwrap();
    assert!(last >= count, "{last}");
    // Whoever has everything already is told so by one write more.
    let last = last + TOGETHER;
    until.store(last, Ordering::SeqCst);
    write(events, 1, Arc::new(AtomicBool::new(true))).await;
    let expected: Vec<u64> = (1..=last).collect();
    for follower in followers {
        let seen = tokio::task::spawn_blocking(|| follower.join().unwrap()).await.unwrap();
        assert!(seen == expected, "{} of {last} came: {:?}", seen.len(), first_gap(&seen));
    }
    assert_eq!(get(&first.address, "/healthz").status, 200);
    stop.cancel();
    tasks.finished().await;
    db.close().await;
}

/// The first two neighbours that are none.
fn first_gap(seen: &[u64]) -> Option<&[u64]> {
    seen.windows(2).find(|pair| pair[1] != pair[0] + 1)
}
