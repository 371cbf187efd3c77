//! Polls the services of all nets by one engine, the monitor's: with its schedule, backoff, breakers, host
//! slots, shared requests, guard and formats. Its source is memory, its sink whoever loaded the net.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainstay_base::{Clock, SystemRng, Timestamp};
use mainstay_fleet::agent::Reporter;
use mainstay_fleet::agents::Finding;
use mainstay_fleet::{CheckKind, LocationStatus};
use mainstay_monitor::observe::WebObserver;
use mainstay_monitor::roster::Circuit;
use mainstay_monitor::source::{Changes, Changing, Source};
use mainstay_monitor::{
    Definition, DependencyStatus, Engine, EngineParts, PollPolicy, PollResult, Report,
    ServiceNumber, ServiceStatus, Sink, Tenure, Watch,
};
use mainstay_outbound::Web;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The most names of dependencies in one error.
const MAX_NAMED: usize = 5;

/// Polls services. A clone is the same one.
#[derive(Clone)]
pub(super) struct Polls {
    book: Arc<Book>,
    engine: Engine,
}

/// The services of one net: they are polled until it is dropped.
pub(super) struct Polled {
    numbers: Vec<ServiceNumber>,
    polls: Polls,
}

/// Which services there are, and who is told of each.
#[derive(Default)]
struct Book(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    /// Counts the changes.
    revision: i64,
    watched: BTreeMap<i64, Entry>,
    /// Those that are polled no more, with when that was.
    gone: BTreeMap<i64, i64>,
    last: i64,
}

struct Entry {
    watch: Watch,
    reporter: Reporter,
}

impl Polls {
    pub(super) fn start(
        web: Web,
        clock: Arc<dyn Clock>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let book = Arc::new(Book::default());
        let parts = EngineParts {
            policy: PollPolicy::default(),
            source: Arc::clone(&book) as _,
            observe: Arc::new(WebObserver::new(web, Arc::clone(&clock))),
            sink: Arc::clone(&book) as _,
            tenure: Tenure::alone(),
            clock,
            rng: Arc::new(SystemRng),
        };
        Self { book, engine: Engine::start(parts, tasks, stop) }
    }

    /// Polls these until what it gives is dropped.
    pub(super) fn watch(&self, services: &[Definition], reporter: &Reporter) -> Polled {
        let numbers = self.book.add(services, reporter);
        self.engine.refresh();
        Polled { numbers, polls: self.clone() }
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        self.polls.book.remove(&self.numbers);
        self.polls.engine.refresh();
    }
}

impl Book {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, services: &[Definition], reporter: &Reporter) -> Vec<ServiceNumber> {
        let mut pages = self.pages();
        pages.revision = pages.revision.saturating_add(1);
        let revision = pages.revision;
        let mut numbers = Vec::with_capacity(services.len());
        for service in services {
            pages.last = pages.last.saturating_add(1);
            let number = ServiceNumber(pages.last);
            let watch = service.watch(number, reporter.net(), revision);
            pages.watched.insert(number.0, Entry { watch, reporter: reporter.clone() });
            numbers.push(number);
        }
        numbers
    }

    fn remove(&self, numbers: &[ServiceNumber]) {
        let mut pages = self.pages();
        pages.revision = pages.revision.saturating_add(1);
        let revision = pages.revision;
        for number in numbers {
            pages.watched.remove(&number.0);
            pages.gone.insert(number.0, revision);
        }
    }
}

impl Source for Book {
    fn changes(&self, after: i64) -> Changing<'_> {
        let mut pages = self.pages();
        // Whoever asks has read everything up to there.
        pages.gone.retain(|_, revision| *revision > after);
        let watched = pages.watched.values().filter(|entry| entry.watch.revision > after);
        let changes = Changes {
            latest: pages.revision,
            watched: watched.map(|entry| (entry.watch.clone(), None)).collect(),
            gone: pages.gone.keys().copied().map(ServiceNumber).collect(),
        };
        Box::pin(async { Ok(changes) })
    }
}

impl Sink for Book {
    fn take(&self, result: PollResult) {
        let number = result.watch.number.0;
        let reporter = self.pages().watched.get(&number).map(|entry| entry.reporter.clone());
        // One whose net was unloaded meanwhile says nothing.
        if let Some(reporter) = reporter {
            reporter.found(&finding(&result));
        }
    }

    fn take_circuit(&self, _: &Circuit, _: Timestamp) {}

    /// What is kept is bounded where it is kept.
    fn has_room(&self) -> bool {
        true
    }
}

fn finding(result: &PollResult) -> Finding {
    let (status, error) = match &result.outcome {
        Err(failure) => (LocationStatus::Down, Some(failure.message.clone())),
        Ok(report) => {
            let statuses = report.dependencies.iter().map(mainstay_monitor::Reported::status);
            match ServiceStatus::of_answer(statuses) {
                ServiceStatus::Degraded => (LocationStatus::Degraded, Some(troubled(report))),
                _ => (LocationStatus::Healthy, None),
            }
        }
    };
    Finding {
        kind: CheckKind::Service,
        name: result.watch.name.to_string(),
        at: result.at,
        status,
        latency_ms: Some(result.latency.as_secs_f64() * 1_000.0),
        error,
    }
}

/// Which dependencies are in trouble.
fn troubled(report: &Report) -> String {
    let is_troubled =
        |status| matches!(status, DependencyStatus::Degraded | DependencyStatus::Down);
    let troubled = report.dependencies.iter().filter(|one| is_troubled(one.status()));
    let names: Vec<&str> = troubled.map(|one| one.name.as_str()).collect();
    let more = names.len().saturating_sub(MAX_NAMED);
    let named = names.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    match more {
        0 => format!("in trouble: {named}"),
        more => format!("in trouble: {named} and {more} more"),
    }
}

#[cfg(test)]
#[path = "polls_tests.rs"]
mod tests;
