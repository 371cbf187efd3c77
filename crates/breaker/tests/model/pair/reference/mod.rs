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
    groups: Vec<Group>,
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
    /// It was let through while half-open.
    is_probe: bool,
    /// It was a probe, and the breaker waits for it no more.
    is_lost: bool,
    /// It was counted as slow while in flight.
    is_counted: bool,
    /// The hedged call of which it is an attempt, and when that began.
    group: Option<(usize, u64)>,
}

/// A hedged call.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    has_result: bool,
    /// The generation in which it was slow, and no attempt is left to show it.
    slow_in: Option<u64>,
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
                    self.groups.push(Group::default());
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
        self.groups.iter().map(|group| group.has_result).collect()
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
        // The time of a hedged call runs as long as one of its attempts is in flight.
        let other = self.calls.iter().find(|call| {
            self.is_current(call) && call.group.is_some_and(|(other, _)| Some(other) == group)
        });
        let was_slow =
            group.is_some_and(|group| self.groups[group].slow_in == Some(self.generation));
        self.calls.push(Call {
            generation: self.generation,
            began: (self.clock, self.now),
            is_measured: self.measures_next(),
            is_probe: matches!(self.phase, Phase::HalfOpen(_)),
            is_lost: false,
            is_counted: other.map_or(was_slow, |other| other.is_counted),
            group: group.map(|group| {
                let since = other.and_then(|other| other.group).map(|(_, since)| since);
                (group, since.unwrap_or(self.now))
            }),
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
        let Some((group, _)) = call.group else { return self.end(call, outcome) };
        let (is_result, had_result) =
            (outcome != Outcome::Cancelled, self.groups[group].has_result);
        if is_result && !had_result {
            self.groups[group].has_result = true;
            return self.end(call, outcome);
        }
        // The last that goes away speaks for a call that has no result.
        let is_last = self.attempts_of(group) == 0;
        let settled = if is_last && !had_result {
            self.end(call, Outcome::Cancelled)
        } else {
            self.go_away(call)
        };
        if is_result { Settled::Outrun } else { settled }
    }

    /// How many attempts at a hedged call are in flight.
    fn attempts_of(&self, group: usize) -> usize {
        let of_group = |call: &&Call| call.group.is_some_and(|(other, _)| other == group);
        self.calls.iter().filter(of_group).filter(|call| self.is_current(call)).count()
    }

    fn end(&mut self, call: Call, outcome: Outcome) -> Settled {
        if !self.is_current(&call) {
            return self.stale();
        }
        if outcome == Outcome::Failure(FailureKind::Timeout) {
            self.counts.timeout += 1;
            self.told.push(Event::Timeout);
        }
        if let Some((group, _)) = call.group
            && (call.is_counted || self.is_slow(call))
        {
            self.groups[group].slow_in = Some(self.generation);
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

    /// One of several attempts goes away, and says nothing of the call.
    fn go_away(&mut self, call: Call) -> Settled {
        if !self.is_current(&call) {
            return self.stale();
        }
        self.count(Outcome::Cancelled);
        self.sweep();
        Settled::Counted
    }

    fn stale(&mut self) -> Settled {
        self.counts.stale += 1;
        self.told.push(Event::Stale);
        Settled::Stale
    }

    fn is_current(&self, call: &Call) -> bool {
        call.generation == self.generation && !call.is_lost
    }

    /// A slow call is a failure, whatever it says.
    fn with_its_time(&self, call: Call, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Failure(_) => outcome,
            _ if self.is_slow(call) => Outcome::Failure(FailureKind::Slow),
            _ => outcome,
        }
    }

    /// Whether it takes too long; the time of a hedged call is that of all its attempts.
    fn is_slow(&self, call: Call) -> bool {
        let began = call.group.map_or(call.began.1, |(_, since)| since);
        self.setup.slow_after().is_some_and(|limit| self.now - began > limit)
    }

    /// Counts the calls that are in flight for too long, and a hedged one once.
    fn sweep(&mut self) {
        let is_overdue = |call: &Call, this: &Self| {
            let has_result = call.group.is_some_and(|(group, _)| this.groups[group].has_result);
            this.is_current(call) && !call.is_counted && !has_result && this.is_slow(*call)
        };
        while let Some(place) = self.calls.iter().position(|call| is_overdue(call, self)) {
            let group = self.calls[place].group;
            let generation = self.generation;
            let of_group = |call: &&mut Call| {
                group.is_some() && call.group == group && call.generation == generation
            };
            self.calls.iter_mut().filter(of_group).for_each(|call| call.is_counted = true);
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
        let took = if self.setup.slow_after().is_some() || call.is_probe {
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
