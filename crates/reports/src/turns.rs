//! Uploads that are under way: so many of everybody, and few of each, so that nobody takes all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mainstay_base::Id;

use crate::error::ReportsError;

/// Uploads that are under way at once in one process.
pub const MAX_UPLOADS: usize = 64;
/// Those of one user.
pub const MAX_UPLOADS_PER_USER: usize = 4;

/// How many uploads each has under way; never more entries than [`MAX_UPLOADS`].
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<Id, usize>>);

/// The right to one upload. Dropped, it is free for another.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Turns>,
    user: Id,
}

impl Turns {
    /// One more upload of `user`, if there is room.
    pub(crate) fn take(self: &Arc<Self>, user: Id) -> Result<Turn, ReportsError> {
        let mut held = self.held();
        let own = held.get(&user).copied().unwrap_or(0);
        if own >= MAX_UPLOADS_PER_USER {
            return Err(ReportsError::TooManyUploads);
        }
        if held.values().sum::<usize>() >= MAX_UPLOADS {
            return Err(ReportsError::Busy);
        }
        held.insert(user, own.saturating_add(1));
        Ok(Turn { turns: Arc::clone(self), user })
    }

    fn held(&self) -> MutexGuard<'_, HashMap<Id, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut held = self.turns.held();
        let left = held.get(&self.user).copied().unwrap_or(0).saturating_sub(1);
        if left == 0 {
            held.remove(&self.user);
        } else {
            held.insert(self.user, left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(number: u128) -> Id {
        format!("019a8b3c-0000-7000-8000-{number:012}").parse().unwrap()
    }

    #[test]
    fn one_user_takes_few_and_leaves_the_rest_to_others() {
        let turns = Arc::new(Turns::default());
        let mut own: Vec<Turn> =
            (0..MAX_UPLOADS_PER_USER).map(|_| turns.take(user(1)).unwrap()).collect();
        assert!(matches!(turns.take(user(1)), Err(ReportsError::TooManyUploads)));
        let other = turns.take(user(2)).unwrap();
        own.pop();
        assert!(turns.take(user(1)).is_ok(), "one was given back");
        drop((own, other));
        assert!(turns.held().is_empty(), "nothing is kept of who has none");
    }

    #[test]
    fn all_of_them_together_are_bounded() {
        let turns = Arc::new(Turns::default());
        let held: Vec<Turn> =
            (0..MAX_UPLOADS as u128).map(|n| turns.take(user(n)).unwrap()).collect();
        assert!(matches!(turns.take(user(999)), Err(ReportsError::Busy)));
        drop(held);
        assert!(turns.take(user(999)).is_ok());
    }
}
