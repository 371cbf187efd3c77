//! Watches a resource that settles later.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use mainstay_outbound::FetchErrorKind;
use mainstay_poller::{Context, OnTimeout as Decided, Outcome, Schedule, TimeoutInfo};
use serde_json::json;

use super::adapter::Told;
use super::journal::Journal;
use super::rules::Rules;
use super::step_error::StepError;
use super::{News, millis};
use crate::bounds::MAX_POLL_ANSWER;
use crate::courier::{Answer, Courier, SendError};
use crate::mask::Mask;
use crate::model::{OnTimeout, Poll};
use crate::request;
use crate::scope::{Face, Scope};

/// What a poller is started with.
pub(super) struct Start<'a> {
    pub(super) poll: &'a Poll,
    pub(super) step: Arc<str>,
    pub(super) scope: Scope,
    pub(super) courier: Courier,
    pub(super) journal: Arc<Journal>,
}

/// What a poll brings.
pub(super) type Polled = Result<Answer, SendError>;

/// Starts the poller.
pub(super) fn start(start: Start<'_>, ctx: &Context<Told>) -> Result<(), StepError> {
    let Start { poll, step, scope, courier, journal } = start;
    let ready = request::ready(&poll.request, &scope, poll.within, MAX_POLL_ANSWER)?;
    journal.hide_login(&ready)?;
    let breaker = courier.breaker(&ready.web)?;
    let mut rules = Rules::new(&poll.rules, scope.clone())?;
    let began = journal.now();
    let (web, counting) = (ready.web, Counting::new(&step, &journal));
    let expecting = Arc::new(Expecting::new(poll, &rules));
    let asking = move || {
        let (courier, web, counting) = (courier.clone(), web.clone(), counting.clone());
        let expecting = Arc::clone(&expecting);
        async move {
            let polled = courier.fetch(&web).await;
            counting.count();
            expecting.judge(polled)
        }
    };
    let (late_step, late_journal) = (Arc::clone(&step), Arc::clone(&journal));
    let on_timeout = poll.on_timeout.clone();
    let (told_step, telling) = (Arc::clone(&step), Arc::clone(&journal));
    // Told before it begins: one that fails at once would be told to have ended first.
    journal.observer.tell(&News::PollerBegan { step: &step });
    let started = ctx
        .poll(asking)
        .on(schedule(poll))
        .guarded_by(breaker)
        .retry_after(|polled: &Polled| polled.as_ref().ok().and_then(|answer| answer.retry_after))
        .tolerate(poll.tolerate, Result::is_err)
        .on_timeout_with(move |info| {
            let decided = decide(&on_timeout, scope, &info);
            let error = match &decided {
                Decided::Ignore => None,
                Decided::Fail => Some(told(&info)),
                Decided::Error(reason) => Some(reason.to_string()),
            };
            late_journal.poller_ended(&late_step, error.as_deref());
            decided
        })
        .handle(move |polled: &Polled| {
            let outcome = rules.decide(polled, || telling.mask());
            let at = telling.now();
            let told = |name: String| Told { name, step: Arc::clone(&told_step), at };
            let all = |names: Vec<String>| names.into_iter().map(told).collect::<Vec<_>>();
            match outcome {
                Outcome::Continue => Outcome::Continue,
                Outcome::Inject(names) => Outcome::Inject(all(names)),
                Outcome::Done(names) => {
                    telling.settled(&told_step, at, names.len());
                    Outcome::Done(all(names))
                }
                Outcome::Error(reason) => {
                    telling.poller_ended(&told_step, Some(&reason.to_string()));
                    Outcome::Error(reason)
                }
            }
        });
    let handle =
        started.inspect_err(|error| journal.poller_ended(&step, Some(&error.to_string())))?;
    journal.poller_began(handle.id().get(), began, ready.shown);
    Ok(())
}

fn schedule(poll: &Poll) -> Schedule {
    // How long one request may take, `outbound` sees to: its error tells the rules how far it came.
    let schedule = Schedule::every(poll.every).within(poll.within);
    match poll.max_polls {
        Some(most) => schedule.max_polls(most),
        None => schedule,
    }
}

/// What is told when the time is over.
fn decide(on_timeout: &OnTimeout, mut scope: Scope, info: &TimeoutInfo<Arc<Polled>>) -> Decided {
    match on_timeout {
        OnTimeout::Fail => Decided::Fail,
        OnTimeout::Ignore => Decided::Ignore,
        OnTimeout::Error(template) => {
            let elapsed_ms = millis(info.elapsed).round();
            let timeout = json!({
                "poll_count": info.poll_count,
                "skipped_count": info.skipped_count,
                "elapsed_ms": whole(elapsed_ms),
            });
            scope.insert("timeout", timeout, &Mask::default());
            let told = template.text(&scope.context(Face::Shown));
            Decided::error(told.unwrap_or_else(|error| error.to_string()))
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a duration in milliseconds is neither negative nor that long"
)]
fn whole(millis: f64) -> u64 {
    millis as u64
}

/// That a resource did not settle, and that nobody looked, where that is so.
pub(super) fn told<R>(info: &TimeoutInfo<R>) -> String {
    match info.skipped_count {
        0 => info.to_string(),
        _ => format!("{info}: its host had failed too often, and was left alone meanwhile"),
    }
}

/// Knows which failures the journey says may be. They say nothing about the host that it does not know: a breaker that
/// opened at them would make the poll miss what it waits for.
struct Expecting {
    kinds: Vec<&'static str>,
    /// How many failures in a row are passed over.
    tolerate: u32,
    in_a_row: AtomicU32,
}

impl Expecting {
    fn new(poll: &Poll, rules: &Rules) -> Self {
        let kinds = FetchErrorKind::ALL.iter().filter(|kind| rules.goes_on_after(**kind));
        let kinds = kinds.map(|kind| kind.name()).collect();
        Self { kinds, tolerate: poll.tolerate, in_a_row: AtomicU32::new(0) }
    }

    fn judge(&self, polled: Polled) -> Polled {
        let Err(error) = polled else {
            self.in_a_row.store(0, Ordering::Relaxed);
            return polled;
        };
        let before = self.in_a_row.fetch_add(1, Ordering::Relaxed);
        let is_expected = before < self.tolerate || self.kinds.contains(&error.kind());
        Err(if is_expected { error.expected() } else { error })
    }
}

/// Tells who looks on of each poll.
#[derive(Clone)]
struct Counting {
    step: Arc<str>,
    journal: Arc<Journal>,
    count: Arc<AtomicU64>,
}

impl Counting {
    fn new(step: &Arc<str>, journal: &Arc<Journal>) -> Self {
        Self { step: Arc::clone(step), journal: Arc::clone(journal), count: Arc::default() }
    }

    fn count(&self) {
        let poll_count = self.count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.journal.observer.tell(&News::Polled { step: &self.step, poll_count });
    }
}
