//! A site without a runner, runners beside it, PostgreSQL, an S3 server, and a provider of a language model.

use std::process::Command;
use std::time::{Duration, Instant};

use mainstay_reports::llm::fake;
use mainstay_standins::llm::{Behaviour, LlmServer};
use mainstay_store::{Db, Dialect, Sql, Target};
use mainstay_testkit::{PostgresRelay, S3Server, TestDatabase, s3};
use serde_json::{Value, json};

use crate::client::{Answer, request, send};
use crate::people::{set_up, signed};
use crate::process::{PATIENCE, Server, mainstay};

const PEPPER: &str = "the same pepper for all of them, and long";
/// How often the matrix is gone through, and that no step is left out.
pub(super) const ROUNDS: &str = "MAINSTAY_FAULT_ROUNDS";
const CALL: &str = "Ada: Checkout is down.\nLinus: It was caused by the deploy, I rolled back.\n";
/// How long a runner may be silent that is to lose its job, on a machine that does much else: it is heard of each
/// third of that, and must not lose its job before it is meant to where nobody goes on for three seconds.
const TTL: Duration = Duration::from_secs(6);
/// As the design says, where the machine does nothing else.
const SHORT_TTL: Duration = Duration::from_secs(2);
/// And one that is to keep it, however busy the machine is: when a lease ends, whoever has it says.
const LONG_TTL: Duration = Duration::from_secs(30);
pub(super) const LOOK: Duration = Duration::from_millis(20);
const TWO_DAYS: Duration = Duration::from_secs(48 * 3_600);

const KEYS: Sql = Sql::same(
    "test.keys",
    "SELECT storage_key_original, storage_key_report, storage_key_timeline FROM files",
);
const SWEEP_NOW: Sql = Sql::same(
    "test.sweep_now",
    "UPDATE job_schedules SET next_at = 1 WHERE name = 'sweep_report_objects'",
);

pub(super) struct World {
    folder: tempfile::TempDir,
    database: TestDatabase,
    pub(super) storage: S3Server,
    /// In front of the database, for whom it is set.
    pub(super) relay: PostgresRelay,
    pub(super) llm: LlmServer,
    pub(super) site: Server,
    pub(super) session: String,
}

impl World {
    pub(super) async fn start(script: &[Behaviour]) -> Self {
        let llm = LlmServer::start(script.iter().copied(), fake::report).await.unwrap();
        let (storage, database) =
            (S3Server::start().await, TestDatabase::new(Dialect::Postgres).await);
        let relay = PostgresRelay::before(database.server_address()).await;
        let folder = tempfile::tempdir().unwrap();
        let mut command = mainstay(folder.path());
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &database.address()])
            .env("MAINSTAY_JOBS_EMBEDDED", "false");
        let site = Server::spawn(with(command, &llm, &storage));
        let session = signed(&site.address, &set_up(&site));
        Self { folder, database, storage, relay, llm, site, session }
    }

    pub(super) fn runner(&self, name: &str) -> Server {
        self.runner_at(name, &self.database.address(), LONG_TTL)
    }

    /// One that is to lose its job; it reaches the database by way of the relay.
    pub(super) fn runner_behind_the_relay(&self, name: &str) -> Server {
        match self.database.through(self.relay.address()) {
            Target::Postgres { url } => self.runner_at(name, url.expose(), ttl()),
            Target::Sqlite { .. } => panic!("it is no server"),
        }
    }

    fn runner_at(&self, name: &str, database: &str, ttl: Duration) -> Server {
        let mut command = mainstay(self.folder.path());
        command
            .args(["work", "--database", database])
            .env("WORKER_ID", name)
            .env("WORKER_POLL_MS", "100")
            .env("MAINSTAY_JOB_LOCK_TTL_SECONDS", ttl.as_secs().to_string());
        let runner = Server::spawn_unready(with(command, &self.llm, &self.storage));
        runner.await_line("running background jobs");
        runner
    }

    /// Uploads a call, with a time of which the recorded timeline is kept too.
    pub(super) fn upload(&self) -> String {
        let began = Instant::now();
        let answer = loop {
            let answer = upload(&self.site.address, &self.session);
            // Nobody uploads as often as a long matrix does.
            if answer.status != 429 || began.elapsed() > PATIENCE {
                break answer;
            }
            std::thread::sleep(Duration::from_secs(1));
        };
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["file_id"].as_str().unwrap().to_owned()
    }

    pub(super) fn ask(&self, method: &str, path: &str) -> Answer {
        request(&self.site.address, method, path, &self.session)
    }

    pub(super) fn file(&self, id: &str) -> Value {
        self.ask("GET", &format!("/api/files/{id}")).json()
    }

    /// Waits until the provider was asked so often.
    pub(super) fn until_asked(&self, count: usize) {
        until(|| self.llm.asked().len() >= count, || format!("asked {}", self.llm.asked().len()));
    }

    pub(super) fn until_succeeded(&self, id: &str) -> Value {
        until(|| self.file(id)["status"] == "succeeded", || self.file(id).to_string());
        self.file(id)
    }

    /// One report, and one word of it.
    pub(super) fn has_one_report(&self, id: &str) {
        let report = self.ask("GET", &format!("/api/files/{id}/report"));
        assert_eq!(report.status, 200, "{}", report.text());
        assert!(report.json()["report"]["title"].is_string(), "{}", report.text());
        let told = self.ask("GET", "/api/events/history?types=report_ready&limit=200").json();
        let is_its = |event: &&Value| event["file_id"] == id;
        let ready = told["items"].as_array().unwrap().iter().filter(is_its).count();
        assert_eq!(ready, 1, "{told}");
    }

    /// The objects of a file.
    pub(super) fn objects(&self, id: &str) -> Vec<String> {
        let part = format!("/files/{id}/");
        self.storage.keys().into_iter().filter(|key| key.contains(&part)).collect()
    }

    /// Waits until the file has as many objects as it refers to: transcript, timeline and report.
    pub(super) fn has_no_orphan(&self, id: &str) {
        until(|| self.objects(id).len() == 3, || format!("{:?}", self.objects(id)));
    }

    /// Two days later, objects that no file refers to are swept, and no others.
    pub(super) async fn is_swept(&self) {
        let db = self.database.open().await;
        let wanted = referred(&db).await;
        db.close().await;
        self.sweep_to(&wanted).await.stop();
    }

    /// Two days later, so much is left once the storage is swept; comes back with who did it.
    pub(super) async fn sweep_to(&self, wanted: &[String]) -> Server {
        self.storage.age(TWO_DAYS);
        assert_eq!(self.execute(&SWEEP_NOW).await, 1);
        let sweeper = self.runner("sweeper");
        until(|| self.storage.keys() == wanted, || format!("{:#?}", self.storage.keys()));
        sweeper
    }

    pub(super) async fn execute(&self, sql: &Sql) -> u64 {
        let db = self.database.open().await;
        let changed = db.write(async |tx| tx.execute(sql, &[]).await).await.unwrap();
        db.close().await;
        changed
    }
}

/// `./scripts/prove reports` runs the matrix alone.
pub(super) fn is_alone() -> bool {
    std::env::var_os(ROUNDS).is_some()
}

/// How long a runner may be silent that is to lose its job.
pub(super) fn ttl() -> Duration {
    if is_alone() { SHORT_TTL } else { TTL }
}

/// Waits (bounded) until it holds.
pub(super) fn until(holds: impl Fn() -> bool, told: impl Fn() -> String) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "it never came to this: {}", told());
        std::thread::sleep(LOOK);
    }
}

/// What files refer to.
async fn referred(db: &Db) -> Vec<String> {
    let rows = db.fetch_all(&KEYS, &[]).await.unwrap();
    let columns = ["storage_key_original", "storage_key_report", "storage_key_timeline"];
    let keys = rows
        .iter()
        .flat_map(|row| columns.map(|column| row.get::<Option<String>>(column).unwrap()));
    let mut keys: Vec<String> = keys.flatten().collect();
    keys.sort();
    keys
}

fn with(mut command: Command, llm: &LlmServer, storage: &S3Server) -> Command {
    command
        .env("TOKEN_HASH_PEPPER", PEPPER)
        .env("LLM_PROVIDER", "openai")
        .env("LLM_BASE_URL", llm.base_url())
        .env("S3_ENDPOINT", storage.endpoint())
        .env("S3_REGION", s3::REGION)
        .env("S3_BUCKET", s3::BUCKET)
        .env("S3_ACCESS_KEY_ID", s3::ACCESS_KEY_ID)
        .env("S3_SECRET_ACCESS_KEY", s3::SECRET_ACCESS_KEY);
    command
}

/// Uploads a call, with the time of its incident.
pub(super) fn upload(address: &str, session: &str) -> Answer {
    send(address, uploading(address, session, CALL).as_bytes()).unwrap()
}

/// What is sent for that.
pub(super) fn uploading(address: &str, session: &str, call: &str) -> String {
    let part = |head: &str, body: &str| {
        format!("--b\r\nContent-Disposition: form-data; name={head}\r\n\r\n{body}\r\n")
    };
    let body = [
        part("\"file\"; filename=\"call.txt\"", call),
        part("\"from\"", "2025-01-01T00:00:00Z"),
        part("\"to\"", "2025-01-01T01:00:00Z"),
        "--b--\r\n".to_owned(),
    ]
    .concat();
    format!(
        "POST /api/files/upload HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: \
         multipart/form-data; boundary=b\r\ncontent-length: {}\r\n{session}\r\n{body}",
        body.len()
    )
}

/// A share of a file: its token.
pub(super) fn share(world: &World, id: &str) -> String {
    let path = format!("/api/files/{id}/shares");
    let made = crate::people::post(&world.site.address, &path, &world.session, &json!({}));
    assert_eq!(made.status, 201, "{}", made.text());
    made.json()["token"].as_str().unwrap().to_owned()
}
