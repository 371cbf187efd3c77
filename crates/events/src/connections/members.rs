//! The live connections of this instance.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainstay_base::Id;
use tokio::sync::{Notify, watch};

use crate::measure;

/// Rows that wait to be freed; more are freed when this instance is gone.
const MAX_LEAVING: usize = 65_536;

/// How a membership ended without being dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// A newer connection of the same owner took its place.
    Superseded,
    /// The same client came back under the same name, perhaps to another instance.
    TakenOver,
}

/// A live connection. Dropping it frees its place.
#[derive(Debug)]
pub struct Membership {
    id: Id,
    /// None for one that never had a row.
    number: Option<i64>,
    members: Arc<Members>,
    end: watch::Receiver<Option<Ending>>,
}

impl Membership {
    /// The connection's name, the client's own or one made for it.
    #[must_use]
    pub const fn id(&self) -> Id {
        self.id
    }

    /// Waits until the membership ends, and tells why. Dropping the future loses nothing.
    pub async fn superseded(&mut self) -> Ending {
        if let Ok(end) = self.end.wait_for(Option::is_some).await
            && let Some(end) = *end
        {
            return end;
        }
        // The members outlive the wait; without them nobody could end it.
        std::future::pending().await
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.members.leave(number);
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Members {
    state: Mutex<State>,
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    live: HashMap<i64, Live>,
    leaving: Vec<i64>,
}

#[derive(Debug)]
struct Live {
    owner: String,
    end: watch::Sender<Option<Ending>>,
}

impl Members {
    pub(super) fn add(self: &Arc<Self>, owner: String, id: Id, number: i64) -> Membership {
        let (sender, end) = watch::channel(None);
        self.state().live.insert(number, Live { owner, end: sender });
        measure::connections(1.0);
        Membership { id, number: Some(number), members: Arc::clone(self), end }
    }

    /// A membership that was taken over before it began.
    pub(super) fn taken_over(self: &Arc<Self>, id: Id) -> Membership {
        let (_, end) = watch::channel(Some(Ending::TakenOver));
        Membership { id, number: None, members: Arc::clone(self), end }
    }

    /// Ends the membership of `number`, if it is one of ours.
    pub(super) fn end(&self, number: i64, ending: Ending) {
        if let Some(live) = self.state().live.get(&number) {
            live.end.send_if_modified(|end| end.is_none() && end.replace(ending).is_none());
        }
    }

    /// The numbers of those who have not ended; of `owners` only, if given.
    pub(super) fn numbers(&self, owners: Option<&std::collections::BTreeSet<String>>) -> Vec<i64> {
        let state = self.state();
        let wanted = state.live.iter().filter(|(_, live)| {
            live.end.borrow().is_none() && owners.is_none_or(|owners| owners.contains(&live.owner))
        });
        wanted.map(|(number, _)| *number).collect()
    }

    /// The rows to free.
    pub(super) fn take_leaving(&self) -> Vec<i64> {
        std::mem::take(&mut self.state().leaving)
    }

    /// Rows that could not be freed now.
    pub(super) fn put_back(&self, numbers: Vec<i64>) {
        let mut state = self.state();
        let room = MAX_LEAVING.saturating_sub(state.leaving.len());
        state.leaving.extend(numbers.into_iter().take(room));
    }

    /// Resolves when somebody has left.
    pub(super) async fn left(&self) {
        self.left.notified().await;
    }

    /// Applies what a look found of `asked`: whoever is missing was taken over.
    pub(super) fn apply(&self, asked: &[i64], found: &[(i64, bool)]) {
        let there: HashSet<i64> = found.iter().map(|(number, _)| *number).collect();
        for (number, _) in found.iter().filter(|(_, is_superseded)| *is_superseded) {
            self.end(*number, Ending::Superseded);
        }
        for number in asked.iter().filter(|number| !there.contains(number)) {
            self.end(*number, Ending::TakenOver);
        }
    }

    fn leave(&self, number: i64) {
        let mut state = self.state();
        if state.live.remove(&number).is_none() {
            return;
        }
        measure::connections(-1.0);
        if state.leaving.len() < MAX_LEAVING {
            state.leaving.push(number);
        }
        drop(state);
        self.left.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
