//! Services, their endpoints, and a clock that jumps from one thing that happens to the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{IdSource, Moment, SystemClock, SystemRng};
use mainstay_monitor::formats::Format;
use mainstay_monitor::roster::{Memory, Outcome, Takeoff};
use mainstay_monitor::{Endpoint, PollPolicy, Roster, ServiceNumber, Watch};

use crate::script::Script;

/// What a world is made of.
#[derive(Debug, Clone, Copy)]
pub struct WorldOptions {
    /// How many services there are, each on a host of its own.
    pub services: u64,
    /// How often each is polled.
    pub interval: Duration,
    /// How endpoints behave.
    pub script: Script,
    /// The numbers that polling goes by.
    pub policy: PollPolicy,
}

/// A poll that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poll {
    /// Of which service.
    pub number: u64,
    /// When it began, since the world did.
    pub began: Duration,
    /// When it ended.
    pub ended: Duration,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// How long after its end it is due again.
    pub due_in: Duration,
}

/// Services in virtual time.
pub struct World {
    roster: Roster,
    script: Script,
    now: Moment,
    landings: BinaryHeap<Reverse<Landing>>,
    aloft: Vec<Option<Aloft>>,
    /// Places in `aloft` that are free.
    free: Vec<usize>,
    takeoffs: u64,
    latest: Duration,
}

/// When a request ends, which it was of all, and its place in the air.
type Landing = (Moment, u64, usize);

/// A request in the air.
struct Aloft {
    number: u64,
    began: Moment,
    succeeds: bool,
    takeoff: Takeoff,
}

/// When every world begins: on a point of every grid.
const BEGIN: Moment = Moment::from_origin(Duration::from_secs(1_000_000));

impl World {
    /// A world in which every service is there and was polled before, so that all are spread.
    #[must_use]
    pub fn new(options: &WorldOptions) -> Self {
        let ids = IdSource::new(Arc::new(SystemClock::new()), Arc::new(SystemRng));
        let mut roster = Roster::new(options.policy, Arc::new(SystemRng));
        let format = Arc::new(Format::Status);
        let memory = Memory::missed();
        for number in 0..options.services {
            let host = format!("host-{number}.test");
            let url = format!("http://{host}/health");
            let host = host.parse().expect("a host");
            let endpoint = Endpoint::new(host, url, Vec::new(), Duration::from_secs(10));
            let watch = Watch {
                number: ServiceNumber(i64::try_from(number).unwrap_or(i64::MAX)),
                id: ids.next(),
                name: "".into(),
                endpoint: Arc::new(endpoint),
                format: Arc::clone(&format),
                interval: options.interval,
                revision: 1,
                generation: 1,
                lease: None,
            };
            roster.watch(Arc::new(watch), Some(&memory), BEGIN);
        }
        Self {
            roster,
            script: options.script,
            now: BEGIN,
            landings: BinaryHeap::new(),
            aloft: Vec::new(),
            free: Vec::new(),
            takeoffs: 0,
            latest: Duration::ZERO,
        }
    }

    /// Lets `duration` pass and shows each poll that ends in it.
    pub fn run(&mut self, duration: Duration, mut show: impl FnMut(&Poll)) {
        let end = self.now.plus(duration);
        loop {
            let beat = self.roster.next_beat(self.now);
            let landing = self.landings.peek().map(|Reverse((at, ..))| *at);
            let Some(next) = [beat, landing].into_iter().flatten().min().filter(|at| *at <= end)
            else {
                break;
            };
            self.now = next;
            // What lands on a point of the grid does not put the beat off.
            while self.landings.peek().is_some_and(|Reverse((at, ..))| *at == next) {
                self.land(&mut show);
            }
            if beat == Some(next) {
                self.beat();
            }
        }
        self.now = end;
    }

    /// The most that any poll was late.
    #[must_use]
    pub const fn latest(&self) -> Duration {
        self.latest
    }

    fn beat(&mut self) {
        let begun = self.roster.beat(self.now);
        let latest = begun.lateness.iter().max().copied().unwrap_or_default();
        self.latest = self.latest.max(latest);
        for takeoff in begun.takeoffs {
            self.take_off(takeoff);
        }
    }

    fn take_off(&mut self, takeoff: Takeoff) {
        let number = number_of(&takeoff);
        let manner = self.script.manner(number, self.now.since(BEGIN));
        let aloft = Aloft { number, began: self.now, succeeds: manner.succeeds, takeoff };
        let place = self.free.pop().unwrap_or_else(|| {
            self.aloft.push(None);
            self.aloft.len() - 1
        });
        if let Some(free) = self.aloft.get_mut(place) {
            *free = Some(aloft);
        }
        self.takeoffs += 1;
        self.landings.push(Reverse((self.now.plus(manner.latency), self.takeoffs, place)));
    }

    fn land(&mut self, show: &mut impl FnMut(&Poll)) {
        let Some(Reverse((.., place))) = self.landings.pop() else { return };
        let Some(aloft) = self.aloft.get_mut(place).and_then(Option::take) else { return };
        self.free.push(place);
        let Aloft { number, began, succeeds: succeeded, takeoff } = aloft;
        // Each has a host of its own, so that nobody shares a request.
        for aboard in self.roster.land(&takeoff, &mut 0) {
            let outcome = if succeeded { Outcome::Success } else { Outcome::Failure };
            let settled =
                self.roster.settle(aboard.watch.number, aboard.attempt, outcome, self.now);
            let due_in = settled.map(|settled| settled.due_in).unwrap_or_default();
            let (began, ended) = (began.since(BEGIN), self.now.since(BEGIN));
            show(&Poll { number, began, ended, succeeded, due_in });
        }
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "World {{ {:?} }}", self.roster)
    }
}

/// Whose endpoint it is: hosts are named after their service.
fn number_of(takeoff: &Takeoff) -> u64 {
    let host = takeoff.endpoint.host.as_str();
    let digits = host.strip_prefix("host-").and_then(|rest| rest.strip_suffix(".test"));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.expect("a host that is named after its service")
}
