//! Two instances, what they poll, and what they have recorded.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mainstay_monitor::shards::Shard;
use mainstay_store::{Dialect, Sql};
use mainstay_testkit::{SlowProxy, Stalls, TestDatabase};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;

use super::upstream::Upstream;
use crate::client::request;
use crate::people::{post, set_up, signed};
use crate::process::{PATIENCE, Server, mainstay};

pub(super) const SERVICES: usize = 200;
pub(super) const JOURNEYS: usize = 8;
/// Two runs of a journey are further apart than this, if none is made twice: each may be late by a look at
/// the schedule and by a busy machine.
const BETWEEN_RUNS: Duration = Duration::from_secs(5);
const INTERVAL: Duration = Duration::from_secs(5);
/// Two polls of a service are further apart than this, if none is made twice: each may be late on a busy
/// machine, but not by half an interval.
const APART: Duration = Duration::from_millis(2_500);
/// After so long a poll has been answered and recorded.
const FRESH: Duration = Duration::from_millis(300);
const PEPPER: &str = "the same pepper for both of them, and long";

/// Two processes on one PostgreSQL; the first reaches it through a proxy.
pub(super) struct Pair {
    pub(super) first: Server,
    second: Option<Server>,
    upstream: Upstream,
    /// When the machine let nobody go on, which breaks no promise of time.
    stalls: Stalls,
    database: TestDatabase,
    proxy: SlowProxy,
    runtime: Handle,
    token: String,
    session: String,
    folders: [TempDir; 2],
}

/// The number of the last poll of each service, and when it ended.
pub(super) type Recorded = BTreeMap<i64, (i64, i64)>;

/// How long it is until `after` has passed since `since`.
pub(super) fn later(since: Instant, after: Duration) -> Duration {
    after.saturating_sub(since.elapsed())
}

impl Pair {
    /// Starts the first of them, set up, with nothing to poll.
    pub(super) async fn new() -> Self {
        let database = TestDatabase::new(Dialect::Postgres).await;
        let proxy = SlowProxy::before(database.server_address(), Duration::ZERO).await;
        let mainstay_store::Target::Postgres { url } = database.through(proxy.address()) else {
            unreachable!("it is PostgreSQL")
        };
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let first = start(&folders[0], url.expose());
        let session = signed(&first.address, &set_up(&first));
        let body = json!({"name": "watcher", "scope": "write"});
        let made = post(&first.address, "/api/account/tokens", &session, &body);
        let token =
            made.json()["token"].as_str().unwrap_or_else(|| panic!("{}", made.text())).to_owned();
        Self {
            first,
            second: None,
            upstream: Upstream::start(),
            stalls: Stalls::watch(),
            database,
            proxy,
            runtime: Handle::current(),
            token: format!("authorization: Bearer {token}\r\n"),
            session,
            folders,
        }
    }

    pub(super) fn add_services(&self) {
        for service in 0..SERVICES {
            let body = json!({
                "name": format!("service {service}"),
                "health_endpoint": self.upstream.address(service),
                "poll_interval_ms": INTERVAL.as_millis(),
            });
            let made = post(&self.first.address, "/api/services", &self.session, &body);
            assert_eq!(made.status, 201, "{}", made.text());
        }
    }

    /// Journeys that ask one address each, as often as a journey may.
    pub(super) fn add_journeys(&self) {
        for journey in 0..JOURNEYS {
            let address = self.upstream.address(journey);
            let source = format!(
                "journey: journey {journey}\nevery: 10s\nsteps:\n  - id: look\n    get: \"{address}\"\n    expect: {{ status: 200 }}\n"
            );
            let made = post(
                &self.first.address,
                "/api/journeys",
                &self.session,
                &json!({"source": source}),
            );
            assert_eq!(made.status, 201, "{}", made.text());
        }
    }

    /// Waits until each journey was run so often, and none twice at one time of its schedule.
    pub(super) fn journeys_have_run(&self, times: usize) {
        let began = Instant::now();
        let count = |journey| self.upstream.asked(journey).len();
        while !(0..JOURNEYS).all(|journey| count(journey) >= times) {
            let counts: Vec<_> = (0..JOURNEYS).map(count).collect();
            assert!(began.elapsed() < PATIENCE, "{counts:?} {:#?}", self.second().log());
            std::thread::sleep(Duration::from_millis(50));
        }
        for journey in 0..JOURNEYS {
            for pair in self.upstream.asked(journey).windows(2) {
                let gap = self.apart(pair, BETWEEN_RUNS * 2);
                assert!(gap >= BETWEEN_RUNS, "journey {journey} was run again after {gap:?}");
            }
        }
    }

    /// How the runs ended that the second knows of, and how many of them there are of each journey.
    pub(super) fn runs(&self) -> BTreeMap<String, Vec<String>> {
        let read = |path: &str| request(&self.second().address, "GET", path, &self.token).json();
        let journeys = read("/api/journeys");
        let of = |journey: &Value| {
            let runs = read(&format!("/api/journeys/{}/runs", journey["id"].as_str().unwrap()));
            let statuses = runs["items"].as_array().unwrap().iter().map(|run| text(&run["status"]));
            (text(&journey["name"]), statuses.collect())
        };
        journeys["items"].as_array().unwrap().iter().map(of).collect()
    }

    pub(super) fn start_second(&mut self) {
        self.second = Some(start(&self.folders[1], &self.database.address()));
    }

    /// Has both, with half of the services each, all of which were polled.
    pub(super) fn share(&mut self) {
        self.add_services();
        self.start_second();
        self.is_shared();
        self.everybody_is_polled_after(Instant::now());
    }

    /// Waits until both have the same share.
    pub(super) fn is_shared(&self) {
        self.await_instances("both have half of the shards", Instant::now(), PATIENCE, |all| {
            let services: u64 = alive(all).map(|one| one["services"].as_u64().unwrap()).sum();
            let halves = alive(all).filter(|one| one["shards"].as_array().unwrap().len() == 32);
            halves.count() == 2 && services == u64::try_from(SERVICES).unwrap()
        });
    }

    /// Waits until the second has everything, which must be in time.
    pub(super) fn second_has_all(&self, since: Instant, within: Duration) {
        self.await_instances("the second has every shard", since, within, |all| {
            let this = alive(all).find(|one| one["is_this"] == true);
            this.is_some_and(|one| one["shards"].as_array().unwrap().len() == 64)
        });
    }

    /// Waits until every service was polled after that.
    pub(super) fn everybody_is_polled_after(&self, moment: Instant) {
        let waits = || {
            let is_waiting = |service: &usize| self.upstream.asked(*service).last() < Some(&moment);
            (0..SERVICES).filter(is_waiting).collect::<Vec<_>>()
        };
        while !waits().is_empty() {
            assert!(moment.elapsed() < INTERVAL * 4, "not polled: {:?}", waits());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// No two polls of a service are in one interval, of those whose result is not known to have died.
    pub(super) fn nobody_is_polled_twice(&self, counts: impl Fn(Instant) -> bool) {
        for service in 0..SERVICES {
            let asked = self.upstream.asked(service);
            for pair in asked.windows(2).filter(|pair| counts(pair[0])) {
                let gap = self.apart(pair, INTERVAL);
                assert!(gap >= APART, "service {service} was polled again after {gap:?}");
            }
        }
    }

    /// How far two are apart that were meant to be an interval apart, where the first may be as late as the
    /// machine made it.
    fn apart(&self, pair: &[Instant], interval: Duration) -> Duration {
        let meant = pair[0].checked_sub(interval).unwrap_or(pair[0]);
        pair[1] - pair[0] + self.stalls.between(meant, pair[0])
    }

    /// Since then no service was left alone for longer.
    pub(super) fn nobody_waits_longer_than(&self, since: Instant, longest: Duration) {
        for service in 0..SERVICES {
            let asked = self.upstream.asked(service);
            let gaps = asked.windows(2).filter(|pair| pair[1] > since).map(|pair| {
                (pair[1] - pair[0]).saturating_sub(self.stalls.between(pair[0], pair[1]))
            });
            let widest = gaps.max().unwrap_or_default();
            assert!(widest <= longest, "service {service} was left alone for {widest:?}");
        }
    }

    /// Whoever is asked for a poll has it made, once, of what the other one polls.
    pub(super) fn either_polls_what_is_asked_for(&self) {
        let page =
            request(&self.first.address, "GET", "/api/services?limit=200", &self.token).json();
        let theirs = self.shards_of_the_second();
        let is_theirs = |service: &&Value| {
            let url = service["health_endpoint"].as_str().unwrap();
            let host = url.trim_start_matches("http://").split(':').next().unwrap();
            theirs.contains(&Shard::of(&host.parse().unwrap()).number())
        };
        let mut asked_for = 0;
        for service in page["items"].as_array().unwrap().iter().filter(is_theirs).take(12) {
            let number: usize =
                service["name"].as_str().unwrap().trim_start_matches("service ").parse().unwrap();
            let path = format!("/api/services/{}/poll", service["id"].as_str().unwrap());
            // Where the machine held it up, its regular poll may have come in between, and says nothing.
            while !self.is_polled_once(number, &path) {}
            asked_for += 1;
        }
        assert_eq!(asked_for, 12);
    }

    /// Asks for a poll, which must be the only one. Whether no regular one can have come beside it.
    fn is_polled_once(&self, service: usize, path: &str) -> bool {
        let asked = self.asked_a_moment_ago(service);
        let regular = asked[asked.len() - 1];
        let polled = post(&self.first.address, path, &self.token, &json!({}));
        let now = self.upstream.asked(service).len();
        // It may have come as late as the machine made it, and the next one in time.
        if self.apart(&[regular, Instant::now()], INTERVAL) >= APART {
            return false;
        }
        assert_eq!(polled.status, 200, "{}", polled.text());
        assert_eq!(now, asked.len() + 1, "service {service}");
        true
    }

    /// Waits until a service was just polled, so that its next regular poll is far, and tells when it was.
    fn asked_a_moment_ago(&self, service: usize) -> Vec<Instant> {
        let began = Instant::now();
        loop {
            let asked = self.upstream.asked(service);
            let is_fresh = |at: &Instant| (FRESH..INTERVAL / 2).contains(&at.elapsed());
            if asked.last().is_some_and(is_fresh) {
                return asked;
            }
            assert!(began.elapsed() < INTERVAL * 4, "service {service} is not polled");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn shards_of_the_second(&self) -> Vec<i64> {
        let all = request(&self.second().address, "GET", "/api/instances", &self.token).json();
        let this = alive(&all).find(|one| one["is_this"] == true).unwrap();
        this["shards"].as_array().unwrap().iter().map(|shard| shard.as_i64().unwrap()).collect()
    }

    /// What is recorded of every service.
    pub(super) fn recorded(&self) -> Recorded {
        let sql = Sql::same(
            "test.recorded",
            "SELECT service_no, poll_seq, last_polled_at FROM service_states ORDER BY service_no",
        );
        let read = async {
            let db = self.database.open().await;
            let rows = db.fetch_all(&sql, &[]).await.unwrap();
            db.close().await;
            rows
        };
        let rows = self.runtime.block_on(read);
        let row = |row: &mainstay_store::Row| {
            let polled: (i64, Option<i64>) =
                (row.get("poll_seq").unwrap(), row.get("last_polled_at").unwrap());
            (row.get("service_no").unwrap(), (polled.0, polled.1.unwrap_or_default()))
        };
        rows.iter().map(row).collect()
    }

    /// Everything that was recorded then is still there, or something newer. That a late write is refused
    /// is shown in the room (`recording::fences`): no process can be frozen between a poll and its
    /// recording at will.
    pub(super) fn nothing_is_lost(&self, before: &Recorded) {
        let now = self.recorded();
        for (service, (seq, at)) in before {
            let (seq_now, at_now) = now[service];
            assert!(seq_now >= *seq && at_now >= *at, "service {service}: {seq_now} after {seq}");
            assert!((seq_now == *seq) == (at_now == *at), "service {service}: a late write");
        }
    }

    pub(super) fn cut(&self) {
        self.proxy.freeze();
    }

    pub(super) fn mend(&self) {
        self.proxy.thaw();
    }

    fn second(&self) -> &Server {
        self.second.as_ref().unwrap()
    }

    /// Asks the second until the instances are as they should be, which must be so within a time of `since`.
    fn await_instances(
        &self,
        what: &str,
        since: Instant,
        within: Duration,
        holds: impl Fn(&Value) -> bool,
    ) {
        loop {
            let all = request(&self.second().address, "GET", "/api/instances", &self.token).json();
            if holds(&all) {
                return;
            }
            let passed = since.elapsed().saturating_sub(self.stalls.since(since));
            assert!(passed < within, "{what}: {all:#} {:#?}", self.second().log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn alive(all: &Value) -> impl Iterator<Item = &Value> {
    all["items"].as_array().unwrap().iter().filter(|one| one["state"] == "alive")
}

fn start(folder: &TempDir, database: &str) -> Server {
    let mut command = mainstay(folder.path());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--database", database])
        .env("TOKEN_HASH_PEPPER", PEPPER)
        .env("MAINSTAY_JOB_LOCK_TTL_SECONDS", "6")
        .env("MAINSTAY_POLL_CYCLE_MS", "1000");
    Server::spawn(command)
}
