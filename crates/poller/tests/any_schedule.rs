#![cfg(test)]
//! What holds for every schedule, however long polls take and whatever the other side asks for.

mod common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::Event;
use mainstay_poller::{
    Context, EventQueue, Limit, Outcome, PollerError, Schedule, Span as _, Status,
};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

/// A schedule, and what its polls meet.
#[derive(Debug, Clone)]
struct Case {
    interval_ms: u64,
    within_ms: u64,
    is_rate: bool,
    jitter: f64,
    max_polls: Option<u64>,
    poll_timeout_ms: Option<u64>,
    retry_after_ms: Option<u64>,
    /// How long each poll takes, in turn.
    takes_ms: Vec<u64>,
}

fn cases() -> impl Strategy<Value = Case> {
    let times = (5..500_u64, 1..5_000_u64, prop::collection::vec(0..800_u64, 1..5));
    let limits =
        (prop::option::of(1..20_u64), prop::option::of(1..600_u64), prop::option::of(0..900_u64));
    (times, limits, any::<bool>(), prop::sample::select(vec![0.0, 0.3, 1.0])).prop_map(
        |((interval_ms, within_ms, takes_ms), limits, is_rate, jitter)| {
            let (max_polls, poll_timeout_ms, retry_after_ms) = limits;
            Case {
                interval_ms,
                within_ms,
                is_rate,
                jitter,
                max_polls,
                poll_timeout_ms,
                retry_after_ms,
                takes_ms,
            }
        },
    )
}

impl Case {
    fn schedule(&self) -> Schedule {
        let mut schedule = Schedule::every(self.interval_ms.ms()).within(self.within_ms.ms());
        schedule = schedule.jitter(self.jitter);
        if self.is_rate {
            schedule = schedule.at_fixed_rate();
        }
        if let Some(most) = self.max_polls {
            schedule = schedule.max_polls(most);
        }
        match self.poll_timeout_ms {
            Some(timeout) => schedule.poll_timeout(timeout.ms()),
            None => schedule,
        }
    }

    /// Polls something that never settles: how that ended, and when polls began and completed.
    async fn run(&self) -> (Status, Vec<(Duration, Option<Duration>)>) {
        let (queue, start) = (EventQueue::<Event>::new(), common::now());
        let ctx = Context::new(&queue, 0);
        let diary = Arc::new(Mutex::new(Vec::new()));
        let (noted, takes_ms) = (Arc::clone(&diary), self.takes_ms.clone());
        let mut polls = 0;
        let poll = move || {
            let takes = takes_ms.get(polls % takes_ms.len()).copied().unwrap_or(0);
            noted.lock().unwrap().push((start.elapsed(), None));
            let (noted, at) = (Arc::clone(&noted), polls);
            polls += 1;
            async move {
                if takes > 0 {
                    tokio::time::sleep(takes.ms()).await;
                }
                noted.lock().unwrap()[at].1 = Some(start.elapsed());
            }
        };
        let asked = self.retry_after_ms.map(Duration::from_millis);
        let watch = ctx.poll(poll).on(self.schedule()).retry_after(move |()| asked);
        let status = watch.handle(|()| Outcome::Continue).unwrap().wait().await;
        let diary = diary.lock().unwrap().clone();
        (status, diary)
    }
}

proptest! {
    #[test]
    fn polls_keep_to_their_schedule_and_the_deadline_is_kept(case in cases()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        let (status, diary) = runtime.block_on(case.run());
        let within = case.within_ms.ms();
        let Some(PollerError::Timeout(info)) = status.error() else { panic!("{status:?}") };

        prop_assert_eq!(info.poll_count, u64::try_from(diary.len()).unwrap());
        prop_assert!(info.poll_count <= case.max_polls.unwrap_or(u64::MAX));
        prop_assert_eq!(diary[0].0, 0.s(), "the first poll comes at once");
        prop_assert!(diary.iter().all(|(begun, _)| *begun < within), "{:?}", diary);
        match info.limit {
            Limit::Polls => prop_assert_eq!(Some(info.poll_count), case.max_polls),
            _ => prop_assert_eq!(info.elapsed, within),
        }
        prop_assert!(info.elapsed <= within);

        // By the timer of tokio, whose steps are a millisecond.
        let shortest = case.interval_ms.ms().mul_f64(1.0 - case.jitter).saturating_sub(1.ms());
        for pair in diary.windows(2) {
            let [(begun, completed), (next, _)] = pair else { continue };
            let Some(completed) = completed.filter(|_| !case.is_rate) else { continue };
            // What comes in the moment of its own timeout may be too late to be asked when to come again.
            let is_late = case.poll_timeout_ms.is_some_and(|most| completed.saturating_sub(*begun) >= most.ms());
            let asked = case.retry_after_ms.filter(|_| !is_late);
            let floor = Duration::from_millis(asked.unwrap_or(0));
            let pause = next.saturating_sub(completed);
            prop_assert!(pause >= shortest.max(floor), "{:?} after {:?} and {:?}", next, begun, completed);
        }
        if case.is_rate && case.jitter == 0.0 && case.retry_after_ms.is_none() {
            let is_tick = |at: &Duration| at.as_millis().is_multiple_of(case.interval_ms.into());
            prop_assert!(diary.iter().all(|(begun, _)| is_tick(begun)), "{:?}", diary);
        }
    }
}
