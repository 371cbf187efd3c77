//! The loop of a poller: poll, hand the result to the handler, tell, wait. What is decided is decided
//! by the handler and by [`Pace`]; here it is only done.

use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::hooks::{Hooks, Judged};
use super::shared::{Interrupt, Shared};
use super::status::State;
use crate::chance::Chance;
use crate::clock::Sleep;
use crate::error::PollerError;
use crate::guard::Guarded;
use crate::observed::Observed;
use crate::outcome::Outcome;
use crate::queue::{EventQueue, Full, Source};
use crate::raised::{Raised, catch};
use crate::schedule::{Pace, Progress, Schedule, Seen, Step};
use crate::timeout::{Limit, TimeoutInfo};

/// Everything that a poller is made of.
pub(crate) struct Task<P, H, T, E> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) poll: P,
    pub(crate) handler: H,
    pub(crate) schedule: Schedule,
    pub(crate) hooks: Hooks<T, E>,
    pub(crate) sink: Sink<E>,
    pub(crate) chance: Chance,
    pub(crate) last: Option<Arc<T>>,
}

/// Where events go.
pub(crate) enum Sink<E> {
    /// Into a queue, as they come.
    Queue(EventQueue<E>),
    /// To the one who waits, once the resource has settled.
    Waiting(Vec<E>),
}

/// What became of a poll.
enum Polled<T> {
    Result(T),
    Skipped,
    Dropped,
    /// The poller's time is over.
    Late,
    Raised(Raised),
}

/// Polling goes on after this.
struct Onwards {
    progress: Progress,
    retry_after: Option<Duration>,
}

impl<P, H, T, E, F> Task<P, H, T, E>
where
    P: FnMut() -> F,
    F: Future<Output = T> + Send,
    H: FnMut(&T) -> Outcome<E>,
    P: Send,
    T: fmt::Debug + Send + Sync + 'static,
{
    /// Runs to its end, and writes down which it was.
    pub(crate) async fn run(&mut self) {
        let shared = Arc::clone(&self.shared);
        let state = {
            let watching = pin!(self.watch());
            shared.until_interrupted(watching).await
        };
        match state {
            Ok(state) => shared.end(state),
            Err(Interrupt::Stopped) => {}
            Err(Interrupt::CutOff) => shared.end(self.time_out(Limit::Sequence)),
        }
    }

    async fn watch(&mut self) -> State {
        let mut pace = Pace::new(&self.schedule);
        loop {
            let onwards = match self.poll_once().await {
                Polled::Result(result) => self.handle(result),
                Polled::Skipped => {
                    self.shared.poll_skipped();
                    Ok(Onwards { progress: Progress::Skipped, retry_after: None })
                }
                Polled::Dropped => Ok(Onwards { progress: Progress::Nothing, retry_after: None }),
                Polled::Late => Err(self.time_out(Limit::Time)),
                Polled::Raised(raised) => Err(State::Failed(PollerError::poll(raised))),
            };
            let Onwards { progress, retry_after } = match onwards {
                Ok(onwards) => onwards,
                Err(end) => return end,
            };
            let seen = Seen {
                now: self.shared.elapsed(),
                polls: self.shared.polls(),
                progress,
                retry_after,
                chance: self.chance.draw(),
            };
            match pace.after(&self.schedule, seen) {
                Step::PollAt(due) => self.sleep_until(due).await,
                Step::GiveUpAt(end, limit) => {
                    self.sleep_until(end).await;
                    return self.time_out(limit);
                }
            }
        }
    }

    fn sleep_until(&self, since_start: Duration) -> Sleep {
        self.shared.clock().sleep_until(self.shared.moment(since_start))
    }

    /// One poll, dropped at the poller's deadline or its own, whichever comes first.
    async fn poll_once(&mut self) -> Polled<T> {
        let now = self.shared.elapsed();
        let time = self.schedule.time();
        // A test that moves a clock by a leap may wake a poller after its deadline.
        if now >= time {
            return Polled::Late;
        }
        let own = self.schedule.time_of_poll();
        let Self { shared, poll, hooks, .. } = self;
        let shared = &**shared;
        let guard = hooks.rare.as_ref().and_then(|rare| rare.guard.as_ref());
        let Some(guard) = guard else {
            let limit = own.map_or(time, |own| time.min(now.saturating_add(own)));
            let begun = pin!(begin(shared, poll));
            return match before(shared, limit, begun).await {
                Some(Ok(result)) => Polled::Result(result),
                Some(Err(raised)) => Polled::Raised(raised),
                None if shared.elapsed() < time => Polled::Dropped,
                None => Polled::Late,
            };
        };
        // A guard counts what takes too long, and so sees to it itself.
        let guarded = match catch(|| guard.guard(Box::pin(begin(shared, poll)), own)) {
            Ok(guarded) => pin!(guarded),
            Err(raised) => return Polled::Raised(raised),
        };
        match before(shared, time, guarded).await {
            Some(Ok(Guarded::Result(result))) => Polled::Result(result),
            Some(Ok(Guarded::Skipped)) => Polled::Skipped,
            Some(Ok(Guarded::Dropped)) => Polled::Dropped,
            Some(Err(raised)) => Polled::Raised(raised),
            None => Polled::Late,
        }
    }

    /// Hands a result to the handler and does what it says.
    fn handle(&mut self, result: T) -> Result<Onwards, State> {
        let result = Arc::new(result);
        self.shared.answered(Observed::new(Arc::clone(&result)));
        let Self { handler, hooks, .. } = self;
        let judged = catch(|| hooks.judge(&result, handler));
        self.last = Some(result);
        let judged = judged.map_err(|raised| State::Failed(PollerError::handler(raised)))?;
        let Judged { outcome, is_told, retry_after } = judged;
        let progress = match outcome {
            Outcome::Continue => Progress::Nothing,
            Outcome::Inject(events) if events.is_empty() || !is_told => Progress::Nothing,
            Outcome::Inject(events) => {
                self.tell(events, None)?;
                Progress::Event
            }
            Outcome::Done(events) => {
                self.tell(events, Some(State::Done))?;
                return Err(State::Done);
            }
            Outcome::Error(reason) => return Err(State::Failed(PollerError::Custom(reason))),
        };
        Ok(Onwards { progress, retry_after })
    }

    fn tell(&mut self, events: Vec<E>, end: Option<State>) -> Result<(), State> {
        let Self { shared, sink, .. } = self;
        let count = events.len();
        let source = Source { poller: Some(shared.id()), command_index: shared.command_index() };
        match sink {
            Sink::Queue(queue) => {
                let told = shared.tell(count, end, || queue.push(source, events));
                queue.bell().ring();
                told.map_err(|Full { capacity, .. }| {
                    State::Failed(PollerError::QueueFull { capacity })
                })
            }
            Sink::Waiting(last) => {
                if end.is_some() {
                    *last = events;
                }
                Ok(())
            }
        }
    }

    /// What the caller wants when the resource did not settle.
    fn time_out(&mut self, limit: Limit) -> State {
        let info = TimeoutInfo {
            elapsed: self.shared.elapsed(),
            poll_count: self.shared.polls(),
            skipped_count: self.shared.skipped(),
            last_result: self.last.take(),
            limit,
        };
        let failure = info.clone().map(Observed::new);
        let decided = self.hooks.decide(info);
        match decided {
            Ok(decided) => decided.state(failure),
            Err(raised) => State::Failed(PollerError::on_timeout(raised)),
        }
    }
}

/// A poll that is counted when it begins.
async fn begin<F: Future>(shared: &Shared, poll: &mut impl FnMut() -> F) -> F::Output {
    shared.poll_started();
    poll().await
}

/// What `future` says before `limit` (since the start), with its panics caught. What it says at the
/// limit or after it does not count.
async fn before<F: Future>(
    shared: &Shared,
    limit: Duration,
    mut future: Pin<&mut F>,
) -> Option<Result<F::Output, Raised>> {
    // Most polls that answer at once need no timer.
    let mut timer: Option<Sleep> = None;
    poll_fn(|context| {
        let polled = match catch(|| future.as_mut().poll(context)) {
            Ok(Poll::Pending) => None,
            Ok(Poll::Ready(output)) => Some(Ok(output)),
            Err(raised) => Some(Err(raised)),
        };
        if let Some(answer) = polled {
            let is_in_time = shared.elapsed() < limit;
            return Poll::Ready(is_in_time.then_some(answer));
        }
        let timer = timer.get_or_insert_with(|| shared.clock().sleep_until(shared.moment(limit)));
        timer.as_mut().poll(context).map(|()| None)
    })
    .await
}
