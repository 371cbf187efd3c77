//! An engine and an outside world as a test wants them, and what it puts into the monitor.

use std::sync::Mutex;

use mainstay_base::{Id, Timestamp};
use mainstay_monitor::aliases::{AliasName, CanonicalName};
use mainstay_monitor::engine::PollNowError;
use mainstay_monitor::polling::{Answering, CircuitState, PollAnswer, ScheduleView};
use mainstay_monitor::services::{Definition, Draft};
use mainstay_monitor::{FailureKind, Fetch, PollFailure, Polling, Seal, ServiceNumber};
use mainstay_store::Sql;

use super::house::House;

/// What an endpoint answers that is asked out of turn.
pub(super) const BODY: &str = r#"[{"name": "db", "healthy": true, "latencyMs": 3}]"#;

/// Answers as it was told.
#[derive(Default)]
pub(super) struct Engine {
    /// Why it polls nobody now.
    pub(super) not_now: Mutex<Option<PollNowError>>,
}

impl Polling for Engine {
    fn schedule(&self, _: ServiceNumber) -> Option<ScheduleView> {
        Some(ScheduleView {
            reason: "It is not due yet.".to_owned(),
            due_at: Timestamp::from_millis(1_794_776_400_000),
            in_flight_since: None,
            breaker: CircuitState::Closed,
            failures: 0,
            retry_at: None,
            backoff_attempt: 0,
            waits_for_host: false,
            host_in_flight: Some(0),
        })
    }

    fn poll_now(&self, _: ServiceNumber) -> Answering<'_, Result<PollAnswer, PollNowError>> {
        let refused = self.not_now.lock().unwrap().clone();
        Box::pin(async move {
            refused.map_or(Ok(()), Err)?;
            Ok(PollAnswer {
                success: true,
                dependencies_updated: 1,
                status_changes: Vec::new(),
                latency_ms: 1.5,
                error: None,
                warnings: Vec::new(),
            })
        })
    }
}

/// What is called `blocked` is, and what is called `down` does not answer.
impl Fetch for Engine {
    fn judge<'a>(&'a self, url: &'a str) -> Answering<'a, Result<(), PollFailure>> {
        Box::pin(async move {
            for (word, kind) in
                [("blocked", FailureKind::BlockedAddress), ("down", FailureKind::Dns)]
            {
                if url.contains(word) {
                    return Err(PollFailure { kind, message: format!("this is {word}") });
                }
            }
            Ok(())
        })
    }

    fn fetch<'a>(&'a self, url: &'a str) -> Answering<'a, Result<Vec<u8>, PollFailure>> {
        Box::pin(async move {
            self.judge(url).await?;
            Ok(BODY.as_bytes().to_vec())
        })
    }
}

/// Seals nothing.
pub(super) struct Plain;

impl Seal for Plain {
    fn seal(&self, plain: &[u8]) -> String {
        String::from_utf8_lossy(plain).into_owned()
    }

    fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        Some(sealed.as_bytes().to_vec())
    }
}

impl House {
    /// A service of this name.
    pub(super) async fn service(&self, name: &str) -> Id {
        let draft = Draft {
            name: name.to_owned(),
            health_endpoint: format!("https://{}.example.org/health", name.to_lowercase()),
            ..Draft::default()
        };
        let (definition, services) = (Definition::check(draft).unwrap(), &self.monitor.services);
        let made =
            self.events.write(async |tx, out| services.create(tx, out, &definition).await).await;
        made.unwrap().id
    }

    /// A service that was polled a moment ago, and a dependency that it reports.
    pub(super) async fn dependency(&self, service: &str, name: &str) -> (Id, Id) {
        let id = self.service(service).await;
        let at = self.events.db().now().await.unwrap().as_millis();
        let dependency = id.to_string().replace('-', "").chars().rev().collect::<String>();
        let (head, tail) = dependency.split_at(20);
        let dependency = format!("019a8b3c-0000-7000-8000-{}", &format!("{head}{tail}")[..12]);
        self.execute(&format!(
            "INSERT INTO dependencies (id, service_no, slot, name, canonical_name, canonical_key, kind,
               healthy, state, code, skipped, status, status_since, first_seen_at, contact, error,
               error_message)
             SELECT '{dependency}', number, 0, '{name}', '{name}', '{name}', 'database', 0, 2, 500, 0,
               'down', {at}, {at}, '{{\"team\":\"dba\"}}', '{{\"code\":7}}', 'refused'
             FROM services WHERE id = '{id}'"
        ))
        .await;
        self.execute(&format!(
            "UPDATE service_states SET poll_seq = 1, status = 'degraded', status_since = {at},
               last_polled_at = {at}, last_success_at = {at}, last_latency_us = 12500,
               next_poll_at = {at} + 30000, down_count = 1, poll_warnings = '[\"index 3: no name\"]'
             WHERE service_no = (SELECT number FROM services WHERE id = '{id}')"
        ))
        .await;
        (id, dependency.parse().unwrap())
    }

    /// An alias.
    pub(super) async fn alias(&self, alias: &str, canonical: &str) -> Id {
        let (alias, canonical) =
            (AliasName::parse(alias).unwrap(), CanonicalName::parse(canonical).unwrap());
        let aliases = &self.monitor.aliases;
        let made = self
            .events
            .write(async |tx, out| aliases.create(tx, out, alias, canonical).await)
            .await;
        made.unwrap().id
    }

    pub(super) async fn execute(&self, sql: &str) {
        let sql = Sql::same("test.execute", sql.to_owned().leak());
        self.events.db().write(async |tx| tx.execute(&sql, &[]).await).await.unwrap();
    }
}
