//! A breaker that is slow, forgets nothing and is easy to believe: a list of results with their
//! times, a list of calls with their generations, and the rules as the specification words them.

mod reading;
mod steer;
mod time;

use mainstay_breaker::{Event, FailureKind, Rejected, Saved, Settled, State};

use super::operation::{End, Operation, Step};
use super::picture::{Answer, Counts};
use super::setup::{Listening, Setup};

#[derive(Debug, Clone)]
pub(crate) struct Reference {
    setup: Setup,
    /// What the clock shows, in ticks.
    clock: u64,
    /// The latest that it ever showed.
    now: u64,
    phase: Phase,
    generation: u64,
    changed_at: u64,
    /// Every result since the detector began anew, with its time.
    results: Vec<Seen>,
    /// Consecutive failures from before a restart.
    failures_before: u32,
    /// The calls in flight.
    calls: Vec<Call>,
    /// Whether each hedged call has its result.
    groups: Vec<bool>,
    counts: Counts,
    /// In ticks.
    latencies: Vec<u64>,
    kept: Option<Saved>,
    answer: Answer,
    told: Vec<Event>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Phase {
    Closed,
    Open { until: u64 },
    HalfOpen(HalfOpen),
    ForcedClosed,
    ForcedOpen,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct HalfOpen {
    /// How the probes ended: true is a failure.
    results: Vec<bool>,
    /// When the first of the probes in flight was let through.
    first_at: u64,
    lost_at: u64,
    /// While its one probe is the operator's: until when it would be open without it.
    operator_until: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Seen {
    at: u64,
    failed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Call {
    generation: u64,
    /// By the clock, and by the latest it ever showed.
    began: (u64, u64),
    is_measured: bool,
    /// It was counted as slow while in flight.
    is_counted: bool,
    group: Option<usize>,
}

/// What a result means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Success,
    Failure(FailureKind),
    Ignored,
    Cancelled,
}

impl Reference {
    pub(crate) fn new(setup: Setup) -> Self {
        let clock = setup.ticks(std::time::Duration::from_secs(3_600));
        Self {
            setup,
            clock,
            now: clock,
            phase: Phase::Closed,
            generation: 0,
            changed_at: clock,
            results: Vec::new(),
            failures_before: 0,
            calls: Vec::new(),
            groups: Vec::new(),
            counts: Counts::default(),
            latencies: Vec::new(),
            kept: None,
            answer: Answer::Nothing,
            told: Vec::new(),
        }
    }

    pub(crate) fn apply(&mut self, step: &Step) {
        self.told.clear();
        self.answer = match step.operation {
            Operation::Enter | Operation::EnterOwned => self.enter(None),
            Operation::EnterProbe => self.enter_probe(),
            Operation::EnterHedge { group } => {
                let group = usize::from(group) % (self.groups.len() + 1);
                if group == self.groups.len() {
                    self.groups.push(false);
                }
                self.enter(Some(group))
            }
            Operation::Settle { call, end } => self.settle(call, end),
            Operation::Run { succeeds } => self.run(succeeds),
            Operation::Advance { ticks } => {
                self.clock += ticks;
                self.now = self.now.max(self.clock);
                Answer::Nothing
            }
            Operation::StepBack { ticks } => {
                if self.setup.listening != Listening::Nobody {
                    self.sweep();
                    self.clock = self.clock.saturating_sub(ticks);
                }
                Answer::Nothing
            }
            operation => self.steer(operation),
        };
        if step.look {
            self.sweep();
        }
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(crate) fn answer(&self) -> Answer {
        self.answer
    }

    pub(crate) fn decided(&self) -> Vec<bool> {
        self.groups.clone()
    }

    pub(crate) fn told(&self) -> Vec<Event> {
        let is_heard = self.setup.listening == Listening::Somebody;
        if is_heard { self.told.clone() } else { Vec::new() }
    }

    fn enter(&mut self, group: Option<usize>) -> Answer {
        self.sweep();
        self.write_down_what_time_changed();
        if let Some(rejected) = self.would_reject() {
            self.counts.rejected += 1;
            let Rejected { state, retry_after } = rejected;
            self.told.push(Event::Reject { state, retry_after });
            return Answer::Rejected(rejected);
        }
        let is_first = self.probes_in_flight() == 0;
        if let Phase::HalfOpen(half_open) = &mut self.phase {
            if is_first {
                half_open.first_at = self.now;
            }
            let at_the_latest = half_open.first_at + 2 * self.setup.half_open_for;
            half_open.lost_at = (self.now + self.setup.half_open_for).min(at_the_latest);
        }
        self.calls.push(Call {
            generation: self.generation,
            began: (self.clock, self.now),
            is_measured: self.measures_next(),
            is_counted: false,
            group,
        });
        self.counts.allowed += 1;
        Answer::Entered
    }

    fn run(&mut self, succeeds: bool) -> Answer {
        let entered = self.enter(None);
        if let Answer::Rejected(_) = entered {
            return Answer::Ran(false);
        }
        let outcome =
            if succeeds { Outcome::Success } else { Outcome::Failure(FailureKind::Error) };
        let call = self.calls.pop().unwrap();
        self.end(call, outcome);
        Answer::Ran(true)
    }

    fn settle(&mut self, call: u8, end: End) -> Answer {
        if self.calls.is_empty() {
            return Answer::Nothing;
        }
        let call = self.calls.swap_remove(usize::from(call) % self.calls.len());
        let outcome = match end {
            End::Success => Outcome::Success,
            End::Failure => Outcome::Failure(FailureKind::Error),
            End::Timeout => Outcome::Failure(FailureKind::Timeout),
            End::Panic => Outcome::Failure(FailureKind::Panic),
            End::Ignore => Outcome::Ignored,
            End::Cancel | End::Drop => Outcome::Cancelled,
        };
        let settled = self.settle_in_group(call, outcome);
        if matches!(end, End::Drop | End::Panic) {
            return Answer::Nothing;
        }
        Answer::Settled(settled)
    }

    /// Of a hedged call the first result counts; the others have gone away.
    fn settle_in_group(&mut self, call: Call, outcome: Outcome) -> Settled {
        if let Some(group) = call.group
            && outcome != Outcome::Cancelled
            && std::mem::replace(&mut self.groups[group], true)
        {
            self.end(call, Outcome::Cancelled);
            return Settled::Outrun;
        }
        self.end(call, outcome)
    }

    fn end(&mut self, call: Call, outcome: Outcome) -> Settled {
        if call.generation != self.generation {
            self.counts.stale += 1;
            self.told.push(Event::Stale);
            return Settled::Stale;
        }
        if outcome == Outcome::Failure(FailureKind::Timeout) {
            self.counts.timeout += 1;
            self.told.push(Event::Timeout);
        }
        if call.is_counted {
            self.measure(call, outcome);
        } else {
            let outcome = self.with_its_time(call, outcome);
            if let Some(event) = self.measure(call, outcome) {
                self.told.push(event);
            }
            self.count(outcome);
            self.judge(outcome);
        }
        self.sweep();
        Settled::Counted
    }

    /// A slow call is a failure, whatever it says, unless it was outrun by another attempt.
    fn with_its_time(&self, call: Call, outcome: Outcome) -> Outcome {
        let is_slow = self.setup.slow_after().is_some_and(|limit| self.age(call) > limit);
        let is_outrun = call.group.is_some() && outcome == Outcome::Cancelled;
        match outcome {
            Outcome::Failure(_) => outcome,
            _ if is_slow && !is_outrun => Outcome::Failure(FailureKind::Slow),
            _ => outcome,
        }
    }

    /// Counts the calls that are in flight for too long.
    fn sweep(&mut self) {
        let Some(limit) = self.setup.slow_after() else { return };
        let is_overdue = |call: &Call, this: &Self| {
            call.generation == this.generation
                && !call.is_counted
                // Attempts of one logical call count once, when the first has a result.
                && call.group.is_none()
                && this.age(*call) > limit
        };
        while let Some(place) = self.calls.iter().position(|call| is_overdue(call, self)) {
            self.calls[place].is_counted = true;
            let slow = Outcome::Failure(FailureKind::Slow);
            self.told.push(Event::Failure { kind: FailureKind::Slow, latency: None });
            self.count(slow);
            self.judge(slow);
        }
    }

    fn count(&mut self, outcome: Outcome) {
        let is_probe = u64::from(matches!(self.phase, Phase::HalfOpen(_)));
        match outcome {
            Outcome::Success => {
                self.counts.success += 1;
                self.counts.probe_success += is_probe;
            }
            Outcome::Failure(kind) => {
                self.counts.failure += 1;
                self.counts.probe_failure += is_probe;
                self.counts.slow += u64::from(kind == FailureKind::Slow);
            }
            Outcome::Ignored => self.counts.ignored += 1,
            Outcome::Cancelled => self.counts.cancelled += 1,
        }
    }

    /// A call that ends with a result is measured, if anybody asked for it. What is to be told of it.
    fn measure(&mut self, call: Call, outcome: Outcome) -> Option<Event> {
        let took = if self.setup.slow_after().is_some() {
            self.age(call)
        } else {
            self.clock.saturating_sub(call.began.0)
        };
        let latency = call.is_measured.then(|| self.setup.duration(took));
        let event = match outcome {
            Outcome::Success => Event::Success { latency },
            Outcome::Failure(kind) => Event::Failure { kind, latency },
            Outcome::Ignored | Outcome::Cancelled => return None,
        };
        if call.is_measured {
            self.latencies.push(took);
        }
        Some(event)
    }

    fn age(&self, call: Call) -> u64 {
        self.now - call.began.1
    }
}

impl Phase {
    fn state(&self) -> State {
        match self {
            Self::Closed | Self::ForcedClosed => State::Closed,
            Self::Open { .. } | Self::ForcedOpen => State::Open,
            Self::HalfOpen(_) => State::HalfOpen,
        }
    }
}

fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap()
}
