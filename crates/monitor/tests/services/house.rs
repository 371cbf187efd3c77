//! The room with a clock to move, a seal to lose, and a bell that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::Duration;

use mainstay_base::{Clock, Id, IdSource, SystemRng, Timestamp};
use mainstay_events::{Events, EventsOptions};
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::services::{Definition, Draft, Edited, Patch, Seal, Services, ServicesError};
use mainstay_monitor::views::{MISSING_SHOWN_FOR, Views};
use mainstay_store::{Db, Row, Sql, migrate};
use mainstay_testkit::{FakeClock, TestDatabase};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The room, whose time stands still until a test moves it.
pub(crate) struct House {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) db: Db,
    pub(crate) events: Events,
    pub(crate) services: Services,
    pub(crate) aliases: Aliases,
    pub(crate) views: Views,
    pub(crate) bells: Arc<AtomicUsize>,
    pub(crate) seal: Arc<Mirror>,
    moved: AtomicI64,
    stop: CancellationToken,
}

/// Seals by turning the text around, until its key is lost.
#[derive(Default)]
pub(crate) struct Mirror {
    pub(crate) lost: AtomicBool,
}

impl Seal for Mirror {
    fn seal(&self, plain: &[u8]) -> String {
        String::from_utf8_lossy(plain).chars().rev().collect()
    }

    fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        let plain: String = sealed.chars().rev().collect();
        (!self.lost.load(Ordering::SeqCst)).then(|| plain.into_bytes())
    }
}

impl House {
    pub(crate) async fn new(database: &TestDatabase) -> Self {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock) as Arc<dyn Clock>;
        let db = database.open_with(Arc::clone(&shared), |_| {}).await;
        migrate::up(&db).await.unwrap();
        let (stop, rng) = (CancellationToken::new(), Arc::new(SystemRng));
        let options = EventsOptions::default();
        let starting = Events::start(
            db.clone(),
            options,
            Arc::clone(&shared),
            Arc::clone(&rng) as _,
            stop.clone(),
        );
        let events = starting.await.unwrap().0;
        let bells = Arc::new(AtomicUsize::new(0));
        let seal = Arc::new(Mirror::default());
        let views = Views::new(db.clone(), Arc::clone(&shared), MISSING_SHOWN_FOR);
        let ids = IdSource::new(shared, rng);
        let aliases = Aliases::new(events.clone(), ids.clone());
        let services = Services::new(
            events.clone(),
            ids,
            Arc::clone(&seal) as _,
            Arc::new({
                let bells = Arc::clone(&bells);
                move || {
                    bells.fetch_add(1, Ordering::SeqCst);
                }
            }),
        );
        Self {
            clock,
            db,
            events,
            services,
            aliases,
            views,
            bells,
            seal,
            moved: AtomicI64::new(0),
            stop,
        }
    }

    /// Moves every clock.
    pub(crate) fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
        let millis = i64::try_from(duration.as_millis()).unwrap();
        let moved = self.moved.fetch_add(millis, Ordering::SeqCst) + millis;
        self.db.shift_clock(moved);
    }

    pub(crate) async fn now(&self) -> Timestamp {
        self.db.now().await.unwrap()
    }

    pub(crate) async fn create(&self, draft: Draft) -> Result<Edited, ServicesError> {
        let definition = Definition::check(draft)?;
        let services = &self.services;
        self.events.write(async |tx, out| services.create(tx, out, &definition).await).await
    }

    /// A service of this name.
    pub(crate) async fn service(&self, name: &str) -> Id {
        self.create(draft(name)).await.unwrap().id
    }

    pub(crate) async fn update(&self, id: Id, patch: Patch) -> Result<Edited, ServicesError> {
        let services = &self.services;
        self.events.write(async |tx, out| services.update(tx, out, id, patch).await).await
    }

    pub(crate) async fn delete(&self, id: Id) -> Result<Edited, ServicesError> {
        let services = &self.services;
        self.events.write(async |tx, out| services.delete(tx, out, id).await).await
    }

    /// So many more services, `s2`, `s3` and so on.
    pub(crate) async fn many(&self, count: u32) {
        let last = count + 1;
        self.execute(&format!(
            "WITH RECURSIVE t (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM t WHERE n < {last})
             INSERT INTO services (id, name, name_key, health_endpoint, format, poll_interval_ms,
               timeout_ms, header_names, is_active, revision, generation, created_at, updated_at)
             SELECT '019a8b3c-0000-7000-8000-' || (100000000000 + n), 's' || n, 's' || n,
               'http://a.example/', 'status', 5000, 100, '[]', 1, n, 1, 1, 1 FROM t"
        ))
        .await;
        self.execute(
            "INSERT INTO service_states (service_no, poll_seq, dependency_revision, status,
               status_since, breaker_state, breaker_failures, breaker_generation,
               backoff_attempt, healthy_count, degraded_count, down_count, skipped_count)
             SELECT number, 0, 0, 'unknown', 1, 'closed', 0, 0, 0, 0, 0, 0, 0 FROM services
             WHERE number NOT IN (SELECT service_no FROM service_states)",
        )
        .await;
    }

    /// A dependency that a service reports.
    pub(crate) async fn dependency(&self, service: &str, name: &str, id: &str) -> Id {
        let (id, key) = (format!("019a8b3c-0000-7000-8000-{id:0>12}"), name.to_lowercase());
        self.execute(&format!(
            "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
               healthy, state, code, skipped, status, status_since, first_seen_at)
             SELECT '{id}', number, 3, '{name}', '{name}', '{key}', 'other', 1, 0, 200, 0, 'healthy', 1, 1
             FROM services WHERE name = '{service}'"
        ))
        .await;
        id.parse().unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        let sql = Sql::same("test.execute", sql.to_owned().leak());
        self.db.write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }

    pub(crate) async fn rows(&self, sql: &str) -> Vec<Row> {
        let sql = Sql::same("test.rows", sql.to_owned().leak());
        self.db.fetch_all(&sql, &[]).await.unwrap()
    }

    pub(crate) async fn row(&self, sql: &str) -> Row {
        self.rows(sql).await.into_iter().next().unwrap()
    }

    /// What was written down, as `kind before after`.
    pub(crate) async fn changes(&self) -> Vec<String> {
        let rows = self.rows("SELECT kind, before, after FROM changes ORDER BY number").await;
        let text = |row: &Row, column| {
            row.get::<Option<String>>(column).unwrap().unwrap_or_else(|| "-".to_owned())
        };
        rows.iter()
            .map(|row| [text(row, "kind"), text(row, "before"), text(row, "after")].join(" "))
            .collect()
    }

    /// The kinds of the events so far, oldest first.
    pub(crate) async fn told(&self) -> Vec<String> {
        self.events().await.into_iter().map(|(kind, _)| kind).collect()
    }

    /// The events so far, oldest first, with their fields.
    pub(crate) async fn events(&self) -> Vec<(String, Value)> {
        let rows = self.rows("SELECT kind, payload FROM events ORDER BY stream, seq").await;
        let fields =
            |row: &Row| serde_json::from_str(&row.get::<String>("payload").unwrap()).unwrap();
        rows.iter().map(|row| (row.get("kind").unwrap(), fields(row))).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

pub(crate) fn draft(name: &str) -> Draft {
    Draft {
        name: name.to_owned(),
        health_endpoint: format!("https://{}.example.org/health", name.trim().to_lowercase()),
        ..Draft::default()
    }
}
