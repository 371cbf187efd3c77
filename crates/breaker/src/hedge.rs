//! Several attempts at one logical call, which count once.

use std::fmt;
use std::sync::Arc;

use crate::breaker::Breaker;
use crate::error::Rejected;
use crate::machine::Attempts;
use crate::permit::Permit;
use crate::sync::{AtomicBool, Mutex, Ordering};

/// Several attempts at one logical call. The first that has a result decides and counts; the others
/// count as cancelled, whatever they say, and never as failures. Each attempt is let through on its
/// own, so that half-open admits no more of them than probes. The first result decides also where it
/// is stale: the others are outrun then, even those that were let through since.
///
/// Where slow calls count, the time of the call runs from its first attempt, as long as any is in
/// flight. When it is over the limit the call is counted as slow once, by its end or while it is in
/// flight. That stops none of the attempts, and their results count no more.
///
/// ```
/// use mainstay_breaker::{Breaker, Settled};
///
/// let breaker = Breaker::builder("search").build()?;
/// let hedge = breaker.hedge();
/// if let (Ok(first), Ok(second)) = (hedge.enter(), hedge.enter()) {
///     assert_eq!(second.success(), Settled::Counted);
///     assert_eq!(first.failure(), Settled::Outrun);
/// }
/// assert_eq!(breaker.snapshot().failure_total, 0);
/// # Ok::<(), mainstay_breaker::ConfigError>(())
/// ```
pub struct Hedge<'a, C> {
    pub(crate) breaker: &'a Breaker<C>,
    pub(crate) group: Arc<Group>,
}

/// Whether one of several attempts has a result.
#[derive(Debug, Default)]
pub(crate) struct Group {
    is_decided: AtomicBool,
    /// The machine's part, which is locked after the machine.
    pub(crate) attempts: Mutex<Attempts>,
    /// Stops the attempts that are outrun.
    #[cfg(feature = "async")]
    pub(crate) outrun: tokio_util::sync::CancellationToken,
}

impl<C> Breaker<C> {
    /// Begins a logical call of several attempts.
    pub fn hedge(&self) -> Hedge<'_, C> {
        Hedge { breaker: self, group: Arc::default() }
    }
}

impl<'a, C> Hedge<'a, C> {
    /// Lets one more attempt through.
    ///
    /// # Errors
    /// When it is refused.
    pub fn enter(&self) -> Result<Permit<'a>, Rejected> {
        let core = &self.breaker.core;
        let ticket = core.enter_attempt(&self.group)?;
        Ok(Permit::hedged(core, ticket, Arc::clone(&self.group)))
    }

    /// The same with a permit that can be moved anywhere, such as into a task of its own.
    ///
    /// # Errors
    /// When it is refused.
    pub fn enter_owned(&self) -> Result<Permit<'static>, Rejected> {
        let core = &self.breaker.core;
        let ticket = core.enter_attempt(&self.group)?;
        Ok(Permit::owned_hedged(Arc::clone(core), ticket, Arc::clone(&self.group)))
    }

    /// Whether an attempt has had a result: there is nothing more to send.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.group.is_decided()
    }
}

impl Group {
    pub(crate) fn is_decided(&self) -> bool {
        self.is_decided.load(Ordering::Acquire)
    }

    /// True for the first to ask.
    pub(crate) fn decide(&self) -> bool {
        !self.is_decided.swap(true, Ordering::AcqRel)
    }

    /// Stops the others. Comes when the first is counted: whoever is woken may do anything.
    pub(crate) fn stop_others(&self) {
        #[cfg(feature = "async")]
        self.outrun.cancel();
    }
}

impl<C> fmt::Debug for Hedge<'_, C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hedge").field("group", &self.group).finish_non_exhaustive()
    }
}
