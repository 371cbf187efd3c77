//! The breaker under test, with the permits and hedged calls that are out.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use mainstay_breaker::{Breaker, Event, Events, EveryError, Hedge, ManualClock, Permit, Saved};

use super::operation::{End, Operation, Step};
use super::picture::{Answer, Picture};
use super::setup::{Listening, Setup};

pub(crate) struct Real<'a> {
    breaker: &'a Breaker,
    clock: ManualClock,
    setup: Setup,
    permits: Vec<Permit<'a>>,
    hedges: Vec<Hedge<'a, EveryError>>,
    kept: Option<Saved>,
    events: Option<Events>,
}

impl<'a> Real<'a> {
    pub(crate) fn new(breaker: &'a Breaker, clock: ManualClock, setup: Setup) -> Self {
        let events = match setup.listening {
            Listening::Nobody => None,
            Listening::NoMore => {
                drop(breaker.subscribe().unwrap());
                None
            }
            Listening::Somebody => Some(breaker.subscribe().unwrap()),
        };
        let (permits, hedges) = (Vec::new(), Vec::new());
        Self { breaker, clock, setup, permits, hedges, kept: None, events }
    }

    pub(crate) fn apply(&mut self, step: &Step) -> Answer {
        match step.operation {
            Operation::Enter => {
                let entered = self.breaker.enter();
                self.entered(entered)
            }
            Operation::EnterOwned => {
                let entered = self.breaker.enter_owned();
                self.entered(entered)
            }
            Operation::EnterProbe => {
                let entered = self.breaker.enter_probe();
                self.entered(entered)
            }
            Operation::EnterHedge { group } => self.enter_hedge(group),
            Operation::Settle { call, end } => self.settle(call, end),
            Operation::Run { succeeds } => {
                let ran = self.breaker.run(|| if succeeds { Ok(()) } else { Err(()) });
                Answer::Ran(!ran.is_err_and(|error| error.is_rejection()))
            }
            Operation::Advance { ticks } => {
                self.clock.advance(self.setup.duration(ticks));
                Answer::Nothing
            }
            Operation::StepBack { ticks } => {
                if self.setup.listening != Listening::Nobody {
                    let _ = self.breaker.snapshot();
                    self.clock.step_back(self.setup.duration(ticks));
                }
                Answer::Nothing
            }
            _ => self.steer(step.operation),
        }
    }

    pub(crate) fn picture(&self) -> Picture {
        Picture::of(self.breaker)
    }

    pub(crate) fn decided(&self) -> Vec<bool> {
        self.hedges.iter().map(Hedge::is_decided).collect()
    }

    /// What listeners were told since the last time.
    pub(crate) fn told(&mut self) -> Vec<Event> {
        let events = self.events.as_mut();
        events.map(|events| std::iter::from_fn(|| events.try_next()).collect()).unwrap_or_default()
    }

    /// Everybody goes away.
    pub(crate) fn drop_permits(&mut self) {
        self.permits.clear();
    }

    fn entered(&mut self, entered: Result<Permit<'a>, mainstay_breaker::Rejected>) -> Answer {
        match entered {
            Ok(permit) => {
                self.permits.push(permit);
                Answer::Entered
            }
            Err(rejected) => Answer::Rejected(rejected),
        }
    }

    fn enter_hedge(&mut self, group: u8) -> Answer {
        let group = usize::from(group) % (self.hedges.len() + 1);
        if group == self.hedges.len() {
            self.hedges.push(self.breaker.hedge());
        }
        let entered = self.hedges[group].enter();
        self.entered(entered)
    }

    fn settle(&mut self, call: u8, end: End) -> Answer {
        if self.permits.is_empty() {
            return Answer::Nothing;
        }
        let permit = self.permits.swap_remove(usize::from(call) % self.permits.len());
        Answer::Settled(match end {
            End::Success => permit.success(),
            End::Failure => permit.failure(),
            End::Timeout => permit.timeout(),
            End::Ignore => permit.ignore(),
            End::Cancel => permit.cancel(),
            End::Drop => {
                drop(permit);
                return Answer::Nothing;
            }
            End::Panic => {
                let call = || {
                    let _permit = permit;
                    resume_unwind(Box::new("the call panicked"))
                };
                let panicked: Result<(), _> = catch_unwind(AssertUnwindSafe(call));
                assert!(panicked.is_err());
                return Answer::Nothing;
            }
        })
    }

    fn steer(&mut self, operation: Operation) -> Answer {
        match operation {
            Operation::ForceOpen => self.breaker.force_open(),
            Operation::ForceClosed => self.breaker.force_closed(),
            Operation::Reset => self.breaker.reset(),
            Operation::Export => {
                let saved = self.breaker.export();
                self.kept = Some(saved);
                return Answer::Saved(saved);
            }
            Operation::Restore => {
                if let Some(saved) = self.kept {
                    return Answer::Restored(self.breaker.restore(&saved));
                }
            }
            Operation::RestoreMade { state, forced, failures, remaining, generation } => {
                let open_remaining = self.setup.duration(remaining);
                let saved = Saved { state, forced, failures, open_remaining, generation };
                return Answer::Restored(self.breaker.restore(&saved));
            }
            _ => {}
        }
        Answer::Nothing
    }
}
