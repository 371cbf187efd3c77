//! An answer that is built once for all who read it, for as long as nothing has changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use mainstay_store::StoreError;
use serde::Serialize;

use super::error::BoardError;
use crate::answer::Answer;

/// How long an answer holds although no event tells of a change: what nobody is told of, such as
/// another error text, and who is polled too late, are seen by then.
pub const HOLDS_FOR: Duration = Duration::from_secs(5);

/// What tells whether something has changed. Neither part ever goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::views) struct Version {
    /// The number of the newest event: whatever changes a state is told.
    pub(in crate::views) told: i64,
    /// Until when latencies are summed up.
    pub(in crate::views) summed: i64,
    /// The version of the graph, from 1 on; 0 where there is none.
    pub(in crate::views) graph: u64,
}

/// The newest answer to a question.
#[derive(Debug, Default)]
pub(in crate::views) struct Kept {
    newest: Mutex<Option<Entry>>,
    /// Whoever builds. All others wait for what is built, and do not build it again.
    building: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Entry {
    version: Version,
    built: Moment,
    answer: Arc<Answer>,
}

impl Kept {
    /// The answer as of the version that is `asked` for or a later one, built only if there is none.
    ///
    /// To find what is asked for may take a while: nobody is kept waiting by it. What is `seen` when it
    /// is built must be found at once, for others wait for who builds.
    pub(in crate::views) async fn get<T: Serialize + Send + 'static>(
        &self,
        asked: impl Future<Output = Result<Version, StoreError>>,
        seen: impl Future<Output = Result<Version, StoreError>>,
        clock: &dyn Clock,
        build: impl AsyncFnOnce(Version) -> Result<T, StoreError>,
    ) -> Result<Arc<Answer>, BoardError> {
        let asked = asked.await?;
        if let Some(answer) = self.holds(asked, clock.moment()) {
            return Ok(answer);
        }
        let _building = self.building.lock().await;
        if let Some(answer) = self.holds(asked, clock.moment()) {
            return Ok(answer);
        }
        // What has changed while others were building is in it too: it serves all who wait by now.
        let version = seen.await?;
        let built = clock.moment();
        let value = build(version).await?;
        let answer = Arc::new(Answer::written(move || value).await?);
        *self.lock() = Some(Entry { version, built, answer: Arc::clone(&answer) });
        Ok(answer)
    }

    fn holds(&self, version: Version, now: Moment) -> Option<Arc<Answer>> {
        let newest = self.lock();
        let entry = newest.as_ref()?;
        let holds = entry.version.covers(version) && now.since(entry.built) < HOLDS_FOR;
        holds.then(|| Arc::clone(&entry.answer))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Entry>> {
        // Nothing in here panics half-way.
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Version {
    /// The same with this version of the graph.
    pub(in crate::views) fn with_graph(self, graph: Option<u64>) -> Self {
        Self { graph: graph.map_or(0, |graph| graph.max(1)), ..self }
    }

    /// Whether whoever has seen this has seen `other`.
    const fn covers(self, other: Self) -> bool {
        self.told >= other.told && self.summed >= other.summed && self.graph >= other.graph
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use mainstay_testkit::FakeClock;

    use super::*;

    fn version(told: i64, summed: i64) -> Version {
        Version { told, summed, graph: 0 }
    }

    /// What is built counts how often it was.
    async fn get(kept: &Kept, clock: &FakeClock, version: Version, count: &AtomicUsize) -> String {
        let answer = kept
            .get(
                std::future::ready(Ok(version)),
                std::future::ready(Ok(version)),
                clock,
                async |_| {
                    tokio::task::yield_now().await;
                    Ok(count.fetch_add(1, Ordering::SeqCst) + 1)
                },
            )
            .await
            .unwrap();
        String::from_utf8(answer.plain.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn an_answer_is_built_when_something_has_changed_or_some_time_has_passed() {
        let (kept, clock, count) = (Kept::default(), FakeClock::new(), AtomicUsize::new(0));
        for (told, summed, seconds, built) in [
            (5, 1, 0, "1"),
            (5, 1, 0, "1"),
            (6, 1, 0, "2"),
            // Whoever asked before somebody else found something newer gets that.
            (5, 1, 0, "2"),
            (6, 2, 0, "3"),
            (6, 2, 4, "3"),
            (6, 2, 1, "4"),
        ] {
            clock.advance(Duration::from_secs(seconds));
            assert_eq!(get(&kept, &clock, version(told, summed), &count).await, built);
        }
    }

    #[tokio::test]
    async fn many_who_ask_at_once_wait_for_one_who_builds() {
        let (kept, clock, count) = (Kept::default(), FakeClock::new(), AtomicUsize::new(0));
        let asking = (0..50).map(|_| get(&kept, &clock, version(1, 1), &count));
        let answers = futures_util::future::join_all(asking).await;
        assert!(answers.iter().all(|answer| answer == "1"), "{answers:?}");
    }

    #[tokio::test]
    async fn those_who_wait_while_it_changes_are_served_by_the_next_one() {
        let (kept, clock, count) = (Kept::default(), FakeClock::new(), AtomicUsize::new(0));
        let told = std::sync::atomic::AtomicI64::new(0);
        // Whoever looks finds another version.
        let look = async || Ok(version(told.fetch_add(1, Ordering::SeqCst), 1));
        let asking = (0..50).map(|_| {
            kept.get(look(), look(), &clock, async |_| {
                tokio::task::yield_now().await;
                Ok(count.fetch_add(1, Ordering::SeqCst))
            })
        });
        let answers = futures_util::future::join_all(asking).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn who_fails_or_leaves_keeps_nobody_from_building() {
        let (kept, clock, count) = (Kept::default(), FakeClock::new(), AtomicUsize::new(0));
        let first = || std::future::ready(Ok(version(1, 1)));
        let fails = async |_| Err::<(), _>(StoreError::Closed);
        assert!(kept.get(first(), first(), &clock, fails).await.is_err());
        let mut leaving = Box::pin(kept.get(first(), first(), &clock, async |_| {
            std::future::pending::<()>().await;
            Ok(())
        }));
        assert!(futures_util::poll!(&mut leaving).is_pending());
        drop(leaving);
        assert_eq!(get(&kept, &clock, version(1, 1), &count).await, "1");
    }

    #[tokio::test]
    async fn who_waits_to_learn_what_to_ask_for_keeps_nobody_waiting() {
        let (kept, clock, count) = (Kept::default(), FakeClock::new(), AtomicUsize::new(0));
        // The graph does not hear of what happened.
        let mut waiting = Box::pin(kept.get(
            std::future::pending(),
            std::future::ready(Ok(version(2, 1))),
            &clock,
            async |_| Ok(0),
        ));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(get(&kept, &clock, version(1, 1), &count).await, "1");
    }
}
