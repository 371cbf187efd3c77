//! Which of many sessions and tokens are still alive: for whoever serves them for long.

use std::collections::HashSet;

use mainstay_base::Id;

use crate::accounts::Accounts;
use crate::error::AccountsError;
use crate::model::Means;
use crate::record::alive;

/// Ids that one statement asks for.
const TOGETHER: usize = 500;

impl Accounts {
    /// Those of the given sessions and tokens that are alive and whose user may sign in, by id.
    ///
    /// # Errors
    /// When the database can't be asked.
    pub async fn alive(&self, means: &[Means]) -> Result<HashSet<Id>, AccountsError> {
        let (now, mut alive) = (self.now(), HashSet::new());
        let (mut sessions, mut tokens) = (Vec::new(), Vec::new());
        for one in means {
            match one {
                Means::Session { id, .. } => sessions.push(*id),
                Means::Token { id, .. } => tokens.push(*id),
            }
        }
        for ids in sessions.chunks(TOGETHER) {
            alive.extend(alive::sessions(self.db(), ids, now).await?);
        }
        for ids in tokens.chunks(TOGETHER) {
            alive.extend(alive::tokens(self.db(), ids, now).await?);
        }
        Ok(alive)
    }
}
