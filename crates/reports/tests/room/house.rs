//! The room with all it stands on, people, and somebody who writes reports.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Id, IdSource, Moment, SystemClock, SystemRng, Timestamp};
use mainstay_events::{Ask, Events, EventsOptions, Outbox, Streams};
use mainstay_jobs::{Handler, JobError, Jobs, JobsOptions, Runner, RunnerOptions, RunnerTask};
use mainstay_reports::prompt::{RecordedEntry, RecordedTimeline};
use mainstay_reports::{
    Beside, BesideError, Draft, File, FileName, FileStatus, MadeWith, Pen, READ_TIME, ReportMaker,
    Reports, ReportsError, ReportsOptions, Source, TimelineError, Timelines, TokenHash, Window,
    Writer,
};
use mainstay_store::{Db, Dialect, Sql, StoreError, StoreOptions, Tx, migrate, values};
use mainstay_testkit::TestDatabase;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::storage::{Faults, Storage};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

const NEW_USER: Sql = Sql::same(
    "test.user",
    "INSERT INTO users (id, email, role, status, password_hash, created_at)
     VALUES ($1, $2, 'viewer', 'active', 'x', 0)",
);

/// The room.
pub(crate) struct House {
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) jobs: Jobs,
    pub(crate) reports: Reports,
    pub(crate) storage: Arc<Storage>,
    pub(crate) writer: Arc<Scripted>,
    pub(crate) maker: Arc<dyn Handler>,
    stop: CancellationToken,
}

/// How a room is set up.
#[derive(Clone, Copy)]
struct Ways {
    is_configured: bool,
    read_time: Duration,
}

const USUAL: Ways = Ways { is_configured: true, read_time: READ_TIME };

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        Self::build(database, Duration::ZERO, Arc::new(Storage::open()), USUAL).await
    }

    /// One without a language model.
    pub(crate) async fn switched_off(database: &TestDatabase) -> Self {
        let ways = Ways { is_configured: false, ..USUAL };
        Self::build(database, Duration::ZERO, Arc::new(Storage::open()), ways).await
    }

    /// The same room, in which nobody waits long for the storage.
    pub(crate) async fn impatient(&self, database: &TestDatabase) -> Self {
        let ways = Ways { read_time: Duration::from_millis(50), ..USUAL };
        Self::build(database, Duration::ZERO, Arc::clone(&self.storage), ways).await
    }

    /// The same room some time later: its clocks are ahead by so much.
    pub(crate) async fn later(&self, database: &TestDatabase, ahead: Duration) -> Self {
        Self::build(database, ahead, Arc::clone(&self.storage), USUAL).await
    }

    /// The same room, which reaches the database by way of a relay.
    pub(crate) async fn through(&self, database: &TestDatabase, relay: &str) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let through = |options: &mut StoreOptions| options.target = database.through(relay);
        let db = database.open_with(Arc::clone(&clock), through).await;
        Self::furnish(db, clock, Arc::clone(&self.storage), USUAL).await
    }

    async fn build(
        database: &TestDatabase,
        ahead: Duration,
        storage: Arc<Storage>,
        ways: Ways,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(Ahead(SystemClock::new(), ahead));
        let db = database.open_with(Arc::clone(&clock), |_| {}).await;
        if db.dialect() == Dialect::Postgres {
            db.shift_clock(i64::try_from(ahead.as_millis()).unwrap());
        }
        migrate::up(&db).await.unwrap();
        Self::furnish(db, clock, storage, ways).await
    }

    async fn furnish(db: Db, clock: Arc<dyn Clock>, storage: Arc<Storage>, ways: Ways) -> Self {
        let stop = CancellationToken::new();
        let options = EventsOptions::default();
        let rng = Arc::new(SystemRng);
        let starting = Events::start(db.clone(), options, Arc::clone(&clock), rng, stop.clone());
        let events = starting.await.unwrap().0;
        let ids = IdSource::new(Arc::clone(&clock), Arc::new(SystemRng));
        let jobs = Jobs::new(
            events.clone(),
            Arc::clone(&clock),
            ids.clone(),
            Arc::new(SystemRng),
            JobsOptions::default(),
        );
        let reports = Reports::new(ReportsOptions {
            events: events.clone(),
            jobs: jobs.clone(),
            objects: Arc::clone(&storage) as _,
            ids,
            rng: Arc::new(SystemRng),
            tokens: Arc::new(Reversed),
            is_configured: ways.is_configured,
            read_time: ways.read_time,
        });
        let writer = Arc::new(Scripted::default());
        let pen = Pen {
            writer: Arc::clone(&writer) as _,
            timelines: Arc::new(Recorded),
            time: 60 * SECOND,
        };
        let maker: Arc<dyn Handler> =
            Arc::new(ReportMaker::new(reports.clone(), Some(pen)).unwrap());
        jobs.register(&[Arc::clone(&maker)]);
        Self { db, events, jobs, reports, storage, writer, maker, stop }
    }

    pub(crate) fn faults(&self) -> &Faults {
        self.storage.faults()
    }

    pub(crate) async fn user(&self) -> Id {
        let id = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng)).next();
        let email = format!("{id}@example.com");
        let values = values![id, &email];
        self.db.write(async |tx| tx.execute(&NEW_USER, values).await).await.unwrap();
        id
    }

    /// Uploads a whole file.
    pub(crate) async fn upload(&self, user: Id, text: &str) -> Result<Id, ReportsError> {
        self.upload_of(user, text, None).await
    }

    pub(crate) async fn upload_of(
        &self,
        user: Id,
        text: &str,
        window: Option<Window>,
    ) -> Result<Id, ReportsError> {
        let mut upload = self.reports.upload(user, name("call.txt"))?;
        upload.write(Bytes::from(text.to_owned())).await?;
        upload.finish(window, nothing()).await
    }

    pub(crate) async fn file(&self, user: Id, id: Id) -> File {
        self.reports.find(user, id).await.unwrap()
    }

    /// Waits (bounded) until an upload has its row.
    pub(crate) async fn until_written_down(&self, user: Id, id: Id) {
        for _ in 0..6_000 {
            if self.reports.find(user, id).await.is_ok() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the upload {id} was never written down");
    }

    /// Waits (bounded) until the file stands so.
    pub(crate) async fn until(&self, user: Id, id: Id, status: FileStatus) -> File {
        for _ in 0..6_000 {
            let file = self.file(user, id).await;
            if file.status == status {
                return file;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the file never came there: {:?}", self.file(user, id).await);
    }

    pub(crate) fn run(&self) -> Running {
        self.run_with(RunnerOptions { poll: Duration::from_millis(50), ..RunnerOptions::new("r") })
    }

    pub(crate) fn run_with(&self, options: RunnerOptions) -> Running {
        let stop = CancellationToken::new();
        let handlers = vec![Arc::clone(&self.maker)];
        let task = Runner::start(self.jobs.clone(), handlers, vec![], options, stop.clone());
        Running { stop, task }
    }

    pub(crate) async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut Tx, &mut Outbox) -> Result<T, ReportsError>,
    ) -> Result<T, ReportsError> {
        self.events.write(work).await
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        let sql = Sql::same("test.count", sql);
        self.db.fetch_one(&sql, &[]).await.unwrap().get("n").unwrap()
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        let sql = Sql::same("test.execute", sql);
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    /// What the user's stream was told: the kinds, and the statuses where there are some.
    pub(crate) async fn told(&self, user: Id) -> Vec<String> {
        let news = self.news(user).await;
        let words = news.iter().map(|data| {
            let kind = data["type"].as_str().unwrap();
            match data["status"].as_str() {
                Some(status) => format!("{kind} {status}"),
                None => kind.to_owned(),
            }
        });
        words.collect()
    }

    /// The same, with all that is said.
    pub(crate) async fn news(&self, user: Id) -> Vec<Value> {
        let streams = Streams { org: false, user: true };
        let ask = Ask { user: Some(user), streams, ..Ask::default() };
        let history = self.events.history(&ask, 200).await.unwrap();
        let frames = history.events.iter().map(|event| {
            let text = String::from_utf8_lossy(&event.frame).into_owned();
            let data =
                text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().to_owned();
            serde_json::from_str::<Value>(&data).unwrap()
        });
        frames.collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A runner.
pub(crate) struct Running {
    stop: CancellationToken,
    task: RunnerTask,
}

impl Running {
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        let bound = tokio::time::timeout(60 * SECOND, self.task.finished()).await;
        bound.expect("a runner that is told to stop stops");
    }
}

/// Waits (bounded) until it holds.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it never came to this");
}

/// Deletes a file, and waits until its objects are gone.
pub(crate) async fn remove(house: &House, user: Id, id: Id) -> Result<(), ReportsError> {
    let removal = house.write(async |tx, out| house.reports.remove(tx, out, user, id).await);
    removal.await?.objects_gone().await;
    Ok(())
}

/// A time of an incident, so that what was recorded is stored too.
pub(crate) fn window() -> Option<Window> {
    let at = Timestamp::from_millis;
    Some(Window { from: at(1_767_225_600_000), to: at(1_767_225_602_000) })
}

pub(crate) fn name(text: &str) -> FileName {
    FileName::parse(text).unwrap()
}

/// Nothing is written, but the database is asked, as it is for a line of the audit log.
pub(crate) fn nothing() -> Beside {
    let failed = |error: StoreError| BesideError::Failed(error.into());
    Box::new(move |tx| async move { tx.now().await.map(drop).map_err(failed) }.boxed())
}

pub(crate) fn failing() -> Beside {
    Box::new(|_| async { Err(BesideError::Failed("the audit log is full".into())) }.boxed())
}

pub(crate) fn refusing() -> Beside {
    Box::new(|_| async { Err(BesideError::Refused("signed out".into())) }.boxed())
}

/// A report of which only its title differs.
pub(crate) fn good(title: &str) -> Result<Draft, JobError> {
    let with = MadeWith {
        prompt_version: "v1".to_owned(),
        schema_version: "v1".to_owned(),
        model: "test".to_owned(),
    };
    let not_found = vec!["/impact/evidence/0".to_owned()];
    Ok(Draft::Report { report: whole(title), with, not_found, lines_left_out: 7 })
}

/// The report itself.
pub(crate) fn whole(title: &str) -> Value {
    json!({
        "title": title,
        "summary": "checkout was down",
        "impact": {"text": "nobody could pay", "evidence": []},
        "severity": "high",
        "started_at": null,
        "ended_at": null,
        "timeline": [],
        "root_causes": [],
        "contributing_factors": [],
        "what_went_well": [],
        "actions": [],
        "affected_dependencies": [],
        "open_questions": [],
    })
}

/// Writes what a test says, and otherwise a report.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Mutex<VecDeque<Result<Draft, JobError>>>,
    seen: Mutex<Vec<(String, Option<RecordedTimeline>)>>,
}

impl Scripted {
    pub(crate) fn say(&self, answer: Result<Draft, JobError>) {
        self.answers.lock().unwrap().push_back(answer);
    }

    /// What reports were written of.
    pub(crate) fn seen(&self) -> Vec<(String, Option<RecordedTimeline>)> {
        self.seen.lock().unwrap().clone()
    }
}

impl Writer for Scripted {
    fn write<'a>(&'a self, source: &'a Source) -> BoxFuture<'a, Result<Draft, JobError>> {
        let text = String::from_utf8_lossy(&source.original).into_owned();
        self.seen.lock().unwrap().push((text, source.recorded.clone()));
        let answer = self.answers.lock().unwrap().pop_front();
        async move { answer.unwrap_or_else(|| good("an incident")) }.boxed()
    }
}

/// One entry in the middle of whatever is asked for.
struct Recorded;

impl Timelines for Recorded {
    fn recorded(&self, window: Window) -> BoxFuture<'_, Result<RecordedTimeline, TimelineError>> {
        let at = Timestamp::from_millis(window.from.as_millis().midpoint(window.to.as_millis()));
        let entries = vec![RecordedEntry { at, what: "orders went down".to_owned() }];
        async move { Ok(RecordedTimeline { window, covered: Some(window), entries }) }.boxed()
    }
}

/// Not a hash, but nothing of a token can be read in its place by mistake.
struct Reversed;

impl TokenHash for Reversed {
    fn hash(&self, token: &str) -> String {
        token.chars().rev().collect()
    }
}

/// A clock that is ahead.
struct Ahead(SystemClock, Duration);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.0.now().plus(self.1)
    }

    fn moment(&self) -> Moment {
        self.0.moment().plus(self.1)
    }
}

/// What the process logs: each file's lines are found by its id.
pub(crate) struct Log;

static LINES: Mutex<Vec<u8>> = Mutex::new(Vec::new());

impl Log {
    pub(crate) fn listen() -> Self {
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(|| Lines).finish();
        // Another test of the same process may have been first.
        let _ = tracing::subscriber::set_global_default(subscriber);
        Self
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&LINES.lock().unwrap()).into_owned()
    }

    /// Whether a line tells of this event of this file.
    pub(crate) fn tells(&self, event: &str, file: Id) -> bool {
        let (event, file) = (format!("event=\"{event}\""), format!("file_id={file}"));
        self.text().lines().any(|line| line.contains(&event) && line.contains(&file))
    }
}

struct Lines;

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LINES.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
