//! A call that was let through and has not ended.

use std::fmt;
use std::sync::Arc;
use std::thread;

use crate::core::Core;
use crate::hedge::Group;
use crate::state::{FailureKind, Outcome, Settled, Verdict};
use crate::ticket::Ticket;

/// A call that was let through. Say how it ended; dropping it says that the caller went away, or,
/// in a panic, that the call failed. Its slot is free again in any case.
///
/// ```
/// use mainstay_breaker::{Breaker, Settled};
///
/// let breaker = Breaker::builder("payments").build()?;
/// if let Ok(permit) = breaker.enter() {
///     let answer: Result<&str, &str> = Ok("paid");
///     let settled = if answer.is_ok() { permit.success() } else { permit.failure() };
///     assert_eq!(settled, Settled::Counted);
/// }
/// # Ok::<(), mainstay_breaker::ConfigError>(())
/// ```
#[must_use = "dropping a permit says that the caller went away"]
pub struct Permit<'a> {
    core: Holder<'a>,
    ticket: Ticket,
    watch: Watch,
}

/// A borrowed breaker saves counting who holds it.
enum Holder<'a> {
    Borrowed(&'a Core),
    Owned(Arc<Core>),
    /// One of several that count once.
    Hedged(&'a Core, Arc<Group>),
    OwnedHedged(Arc<Core>, Arc<Group>),
}

/// What it means when the permit is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// Its result is known: nothing.
    Idle,
    /// Whoever holds it watches nothing: the thread knows whether it panics.
    Thread,
    /// It was made by a thread that panicked already: its panic says nothing of the call.
    Unwinding,
    /// The call is not running: its caller went away.
    #[cfg(feature = "async")]
    Waiting,
    /// The call is running: it panicked.
    #[cfg(feature = "async")]
    Running,
}

impl<'a> Permit<'a> {
    #[inline]
    pub(crate) fn borrowed(core: &'a Core, ticket: Ticket) -> Self {
        Self { core: Holder::Borrowed(core), ticket, watch: Watch::by_thread() }
    }

    pub(crate) fn owned(core: Arc<Core>, ticket: Ticket) -> Permit<'static> {
        Permit { core: Holder::Owned(core), ticket, watch: Watch::by_thread() }
    }

    pub(crate) fn hedged(core: &'a Core, ticket: Ticket, group: Arc<Group>) -> Self {
        Self { core: Holder::Hedged(core, group), ticket, watch: Watch::by_thread() }
    }

    pub(crate) fn owned_hedged(
        core: Arc<Core>,
        ticket: Ticket,
        group: Arc<Group>,
    ) -> Permit<'static> {
        Permit { core: Holder::OwnedHedged(core, group), ticket, watch: Watch::by_thread() }
    }

    /// The call succeeded.
    #[inline]
    pub fn success(mut self) -> Settled {
        self.watch = Watch::Idle;
        match &self.core {
            Holder::Borrowed(core) => core.succeed(self.ticket),
            Holder::Owned(core) => core.succeed(self.ticket),
            Holder::Hedged(..) | Holder::OwnedHedged(..) => {
                self.core.settle(self.ticket, Outcome::Success)
            }
        }
    }

    /// The call failed.
    pub fn failure(self) -> Settled {
        self.settle(Outcome::Failure(FailureKind::Error))
    }

    /// The call did not end in time.
    pub fn timeout(self) -> Settled {
        self.settle(Outcome::Failure(FailureKind::Timeout))
    }

    /// The call says nothing about the downstream, such as a request that was wrong.
    pub fn ignore(self) -> Settled {
        self.settle(Outcome::Ignored)
    }

    /// The caller went away. Dropping the permit says the same.
    pub fn cancel(self) -> Settled {
        self.settle(Outcome::Cancelled)
    }

    /// What a classifier said.
    #[inline]
    pub fn judge(self, verdict: Verdict) -> Settled {
        match verdict {
            Verdict::Success => self.success(),
            Verdict::Failure => self.failure(),
            Verdict::Ignore => self.ignore(),
        }
    }

    fn settle(mut self, outcome: Outcome) -> Settled {
        self.watch = Watch::Idle;
        self.core.settle(self.ticket, outcome)
    }
}

#[cfg(feature = "async")]
impl<'a> Permit<'a> {
    /// Of a call that was let through and waits.
    pub(crate) fn waiting(core: &'a Core, ticket: Ticket) -> Self {
        Self { core: Holder::Borrowed(core), ticket, watch: Watch::Waiting }
    }

    /// From here on the call is watched step by step: what panics outside of one is not its fault.
    pub(crate) fn wait(mut self) -> Self {
        self.watch = Watch::Waiting;
        self
    }

    /// Runs one step of the call: if it panics, the call has failed; if the permit is dropped
    /// between two steps, its caller went away, whatever else panics.
    #[inline]
    pub(crate) fn step<T>(&mut self, step: impl FnOnce() -> T) -> T {
        self.watch = Watch::Running;
        let answer = step();
        self.watch = Watch::Waiting;
        answer
    }

    /// Says how the call ended.
    pub(crate) fn end(&mut self, outcome: Outcome) {
        self.watch = Watch::Idle;
        self.core.settle(self.ticket, outcome);
    }
}

impl Watch {
    #[inline]
    fn by_thread() -> Self {
        if thread::panicking() { Self::Unwinding } else { Self::Thread }
    }
}

impl Drop for Permit<'_> {
    #[inline]
    fn drop(&mut self) {
        let panicked = match self.watch {
            Watch::Idle => return,
            Watch::Thread => thread::panicking(),
            Watch::Unwinding => false,
            #[cfg(feature = "async")]
            Watch::Waiting => false,
            #[cfg(feature = "async")]
            Watch::Running => true,
        };
        let outcome =
            if panicked { Outcome::Failure(FailureKind::Panic) } else { Outcome::Cancelled };
        self.core.settle(self.ticket, outcome);
    }
}

impl Holder<'_> {
    #[inline]
    fn get(&self) -> &Core {
        match self {
            Self::Borrowed(core) | Self::Hedged(core, _) => core,
            Self::Owned(core) | Self::OwnedHedged(core, _) => core,
        }
    }

    fn group(&self) -> Option<&Group> {
        match self {
            Self::Borrowed(_) | Self::Owned(_) => None,
            Self::Hedged(_, group) | Self::OwnedHedged(_, group) => Some(group),
        }
    }

    /// Of several that count once, the first with a result counts; the others have gone away.
    fn settle(&self, ticket: Ticket, outcome: Outcome) -> Settled {
        let Some(group) = self.group() else { return self.get().settle(ticket, outcome) };
        if outcome == Outcome::Cancelled {
            return self.get().settle_attempt(ticket, outcome, group, false);
        }
        if !group.decide() {
            self.get().settle_attempt(ticket, Outcome::Cancelled, group, false);
            return Settled::Outrun;
        }
        let settled = self.get().settle_attempt(ticket, outcome, group, true);
        group.stop_others();
        settled
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Permit")
            .field("breaker", self.core.get().name())
            .finish_non_exhaustive()
    }
}
