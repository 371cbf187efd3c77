//! A clock, resources and commands that leave all order to the checker.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mainstay_poller::{
    Adapter, Clock, Context, Entry, Handle, Outcome, Reason, Sleep, Span as _, StartError,
    SystemClock,
};
use shuttle::future::yield_now;
use shuttle::rand::{Rng, thread_rng};
use tokio::time::Instant;

/// From here on a sleep is a deadline that only something stuck would meet.
const FAR: Duration = Duration::from_secs(100);

/// A clock by which sleeps end in the order of their moments, each after some turns of others, more of them
/// for a longer one. Time moves when a sleep ends.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Time>);

/// Its lock is not seen by shuttle: nobody yields while it is held.
struct Time {
    origin: Instant,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    passed: Duration,
    sleepers: BTreeSet<(Duration, u64)>,
    last: u64,
}

/// One who sleeps; dropped, it does no more.
struct Sleeper {
    time: Arc<Time>,
    place: (Duration, u64),
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Time { origin: SystemClock.now(), known: Mutex::default() }))
    }
}

impl Clock for Turns {
    fn now(&self) -> Instant {
        self.0.origin + self.0.known.lock().unwrap().passed
    }

    fn sleep_until(&self, moment: Instant) -> Sleep {
        let time = Arc::clone(&self.0);
        let until = moment.saturating_duration_since(time.origin);
        let (place, length) = {
            let mut known = time.known.lock().unwrap();
            known.last += 1;
            let place = (until, known.last);
            known.sleepers.insert(place);
            (place, until.saturating_sub(known.passed))
        };
        // A deadline that nothing is to meet outlasts any turn that the checker may keep others waiting for.
        let most = if length < FAR { 40 } else { 4_000 };
        let turns = (length.as_millis() / 25).clamp(1, most);
        let sleeper = Sleeper { time, place };
        Box::pin(async move {
            for _ in 0..turns {
                yield_now().await;
            }
            while thread_rng().gen_bool(0.5) || !sleeper.is_first() {
                yield_now().await;
            }
            {
                let mut known = sleeper.time.known.lock().unwrap();
                known.passed = known.passed.max(until);
            }
            drop(sleeper);
        })
    }
}

impl Sleeper {
    fn is_first(&self) -> bool {
        self.time.known.lock().unwrap().sleepers.first() == Some(&self.place)
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        if let Ok(mut known) = self.time.known.lock() {
            known.sleepers.remove(&self.place);
        }
    }
}

/// What a poller of the tests tells: its own number, and which of its batch it is.
pub(crate) type Event = (u64, u32);

pub(crate) const BATCH: u32 = 3;

/// What becomes of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Settles,
    Breaks,
    Hangs,
}

/// Starts a poller that tells batches, and then meets its fate.
pub(crate) fn start(ctx: &Context<Event>, number: u64, fate: Fate) -> Result<Handle, StartError> {
    let mut polls = 0;
    let poll = move || {
        polls += 1;
        async move {
            if fate == Fate::Hangs && polls == 2 {
                std::future::pending::<()>().await;
            }
            yield_now().await;
            polls
        }
    };
    let batch = move || (0..BATCH).map(move |part| (number, part));
    // Time may leap while others have their turn: only what hangs is to meet its deadline.
    let within = if fate == Fate::Hangs { 1.s() } else { 1_000.s() };
    ctx.poll(poll).every(10.ms()).within(within).handle(move |polls| match polls {
        1 => Outcome::inject_all(batch()),
        _ if fate == Fate::Breaks => Outcome::error("broken"),
        _ => Outcome::done_all(batch()),
    })
}

/// Every batch is whole, and numbers have no gaps.
pub(crate) fn assert_whole(entries: &[Entry<Event>]) {
    let numbers: Vec<u64> = entries.iter().map(|entry| entry.sequence).collect();
    assert_eq!(numbers, (0..u64::try_from(entries.len()).unwrap()).collect::<Vec<_>>());
    let told: Vec<_> = entries.iter().filter(|entry| entry.poller.is_some()).collect();
    for batch in told.chunks(usize::try_from(BATCH).unwrap()) {
        let parts: Vec<u32> = batch.iter().map(|entry| entry.event.1).collect();
        assert_eq!(parts, (0..BATCH).collect::<Vec<_>>(), "{batch:?}");
        assert!(batch.iter().all(|entry| entry.poller == batch[0].poller), "{batch:?}");
    }
}

/// Starts a poller with each command, which may need all that the poller with this number tells.
pub(crate) struct World;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Command {
    pub(crate) number: u64,
    pub(crate) fate: Fate,
    pub(crate) needs: Option<u64>,
}

impl Adapter for World {
    type Command = Command;
    type Event = Event;

    async fn execute(
        &mut self,
        command: &Command,
        ctx: &Context<Event>,
    ) -> Result<Vec<Event>, Reason> {
        start(ctx, command.number, command.fate)?;
        yield_now().await;
        Ok(vec![(command.number, BATCH)])
    }

    fn is_ready(&self, command: &Command, events: &[Entry<Event>]) -> bool {
        // All that the poller tells: the last of it comes when the poller leaves.
        let told = |needed| {
            let is_meant =
                |entry: &&Entry<Event>| entry.poller.is_some() && entry.event.0 == needed;
            events.iter().filter(is_meant).count()
        };
        let all = usize::try_from(2 * BATCH).unwrap();
        command.needs.is_none_or(|needed| told(needed) == all)
    }
}
