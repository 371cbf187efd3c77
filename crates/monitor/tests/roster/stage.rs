//! A roster, a clock in hand, and services to put on it.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Id, IdSource, Moment, Secret, SystemClock, SystemRng};
use mainstay_monitor::formats::Format;
use mainstay_monitor::policy::GRID;
use mainstay_monitor::roster::{Aboard, Begun, Memory, Outcome, Settlement, Takeoff};
use mainstay_monitor::{Endpoint, PollPolicy, Roster, ServiceNumber, Watch};

/// A roster at a moment.
pub(crate) struct Stage {
    pub(crate) roster: Roster,
    pub(crate) now: Moment,
    ids: IdSource,
}

/// The moment at which every stage begins: on the grid, and on every tick of whole seconds.
pub(crate) const BEGIN: Duration = Duration::from_secs(100_000);

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(PollPolicy::default())
    }

    pub(crate) fn with(policy: PollPolicy) -> Self {
        let rng = Arc::new(SystemRng);
        Self {
            roster: Roster::new(policy, rng.clone()),
            now: Moment::from_origin(BEGIN),
            ids: IdSource::new(Arc::new(SystemClock::new()), rng),
        }
    }

    pub(crate) fn id(&self) -> Id {
        self.ids.next()
    }

    pub(crate) fn service(&self, number: i64, url: &str, seconds: u64) -> Watch {
        Watch {
            number: ServiceNumber(number),
            id: self.id(),
            name: format!("service {number}").into(),
            endpoint: Arc::new(endpoint(url, &[])),
            format: Arc::new(Format::ProactiveDeps),
            interval: Duration::from_secs(seconds),
            revision: 1,
            generation: 1,
            lease: None,
        }
    }

    /// Adds a service that was never polled.
    pub(crate) fn add(&mut self, number: i64, url: &str, seconds: u64) {
        let watch = self.service(number, url, seconds);
        self.roster.watch(Arc::new(watch), None, self.now);
    }

    pub(crate) fn restore(&mut self, number: i64, url: &str, seconds: u64, memory: &Memory) {
        let watch = self.service(number, url, seconds);
        self.roster.watch(Arc::new(watch), Some(memory), self.now);
    }

    /// Edits a service that is there.
    pub(crate) fn edit(&mut self, number: i64, edit: impl FnOnce(&mut Watch)) {
        let mut watch = Watch::clone(self.roster.watch_of(ServiceNumber(number)).unwrap());
        watch.revision += 1;
        edit(&mut watch);
        self.roster.watch(Arc::new(watch), None, self.now);
    }

    pub(crate) fn pass(&mut self, duration: Duration) {
        self.now = self.now.plus(duration);
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.now.since(Moment::from_origin(BEGIN)).as_secs_f64()
    }

    pub(crate) fn beat(&mut self) -> Begun {
        self.roster.beat(self.now)
    }

    /// Moves to the next beat and makes it.
    pub(crate) fn next(&mut self) -> Begun {
        self.now = self.roster.next_beat(self.now).expect("something is planned");
        self.beat()
    }

    /// Beats until something takes off, and tells when.
    pub(crate) fn next_takeoff(&mut self) -> (f64, Vec<Takeoff>) {
        for _ in 0..10_000 {
            let begun = self.next();
            if !begun.takeoffs.is_empty() {
                return (self.seconds(), begun.takeoffs);
            }
        }
        panic!("nothing takes off");
    }

    pub(crate) fn land(&mut self, takeoff: &Takeoff) -> Vec<Aboard> {
        self.roster.land(takeoff, &mut 0)
    }

    /// The request ended so for everybody aboard.
    pub(crate) fn end(&mut self, takeoff: &Takeoff, outcome: Outcome) -> Vec<Settlement> {
        let aboard = self.land(takeoff);
        let settle =
            |one: Aboard| self.roster.settle(one.watch.number, one.attempt, outcome, self.now);
        aboard.into_iter().filter_map(settle).collect()
    }

    /// The one request in these ended so.
    pub(crate) fn end_one(&mut self, takeoffs: &[Takeoff], outcome: Outcome) -> Settlement {
        let [takeoff] = takeoffs else { panic!("one request, not {}", takeoffs.len()) };
        self.end(takeoff, outcome).pop().expect("somebody waits for it")
    }

    /// Polls on for `seconds`; every request ends at once as `outcome` says. Tells when each began.
    pub(crate) fn run(
        &mut self,
        seconds: u64,
        outcome: impl Fn(&Endpoint) -> Outcome,
    ) -> Vec<(f64, String)> {
        let end = self.now.plus(Duration::from_secs(seconds));
        let mut polls = Vec::new();
        let mut next = Some(self.now);
        while let Some(now) = next.filter(|next| *next <= end) {
            self.now = now;
            for takeoff in self.beat().takeoffs {
                polls.push((self.seconds(), takeoff.endpoint.url.clone()));
                let outcome = outcome(&takeoff.endpoint);
                self.end(&takeoff, outcome);
            }
            next = self.roster.next_beat(now);
        }
        self.now = end;
        polls
    }
}

pub(crate) fn endpoint(url: &str, headers: &[(&str, &str)]) -> Endpoint {
    let host = url.split('/').nth(2).unwrap();
    let headers = headers
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
        .collect();
    Endpoint::new(host.parse().unwrap(), url.to_owned(), headers, Duration::from_secs(10))
}

pub(crate) fn urls(takeoffs: &[Takeoff]) -> Vec<&str> {
    takeoffs.iter().map(|one| one.endpoint.url.as_str()).collect()
}

pub(crate) fn on_grid(seconds: f64) -> bool {
    let steps = seconds / GRID.as_secs_f64();
    (steps - steps.round()).abs() < 1e-6
}
