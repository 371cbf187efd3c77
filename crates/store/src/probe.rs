//! Whether writes get through. A reader can't tell: a full disk, a lost writer and a standby answer
//! every question.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::db::Db;
use crate::error::StoreError;
use crate::sql::{Dialect, Sql};

/// What became of the writes so far.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    committed: AtomicU64,
    /// The database refused a write for a reason of its own, and no probe has got through since. An
    /// ordinary commit is no proof: one that changed nothing never meets the disk.
    refused: AtomicBool,
}

impl Writes {
    pub(crate) fn note_commit(&self) {
        self.committed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_error(&self, error: &StoreError) {
        if is_refusal(error) {
            self.note_refusal();
        }
    }

    pub(crate) fn note_refusal(&self) {
        self.refused.store(true, Ordering::Relaxed);
    }
}

/// Whether it was the database that could not, and not the write that was wrong or came too late.
pub(crate) const fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Environment { .. }
            | StoreError::Denied { .. }
            | StoreError::Unreachable { .. }
            | StoreError::CommitUnknown { .. }
            | StoreError::Statement { .. }
    )
}

/// Changes nothing, and yet its commit reaches the disk.
const TOUCH: Sql = Sql::pair(
    "store.touch",
    "PRAGMA user_version = 0",
    "SELECT pg_current_xact_id()::text AS transaction",
);

/// A standby lets transactions begin.
const IS_READ_ONLY: Sql = Sql::pair(
    "store.is_read_only",
    "SELECT 'off' AS read_only",
    "SELECT current_setting('transaction_read_only') AS read_only",
);

impl Db {
    /// Whether writes get through: one must begin within `limit`, and after a refused one it must
    /// also reach the disk. Where the writer is taken, others who commit meanwhile are proof enough.
    ///
    /// # Errors
    /// Why they do not.
    pub async fn probe_write(&self, limit: Duration) -> Result<(), StoreError> {
        let writes = self.writes();
        let before = writes.committed.load(Ordering::Relaxed);
        let refused = writes.refused.load(Ordering::Relaxed);
        let probing = if refused {
            tokio::time::timeout(limit, self.touch()).await
        } else {
            tokio::time::timeout(limit, self.begin_and_end()).await
        };
        let moved = writes.committed.load(Ordering::Relaxed) != before;
        match probing.unwrap_or(Err(StoreError::Busy { waited: limit })) {
            Err(StoreError::Busy { .. }) if moved && !refused => Ok(()),
            outcome => outcome,
        }
    }

    async fn begin_and_end(&self) -> Result<(), StoreError> {
        let read_only: String =
            self.write(async |tx| tx.fetch_one(&IS_READ_ONLY, &[]).await?.get("read_only")).await?;
        if read_only == "on" {
            return Err(StoreError::read_only(self.dialect(), IS_READ_ONLY.name()));
        }
        Ok(())
    }

    async fn touch(&self) -> Result<(), StoreError> {
        match self.dialect() {
            Dialect::Sqlite => self.write(async |tx| tx.execute(&TOUCH, &[]).await).await.map(drop),
            Dialect::Postgres => {
                self.write(async |tx| tx.fetch_one(&TOUCH, &[]).await).await.map(drop)
            }
        }?;
        self.writes().refused.store(false, Ordering::Relaxed);
        Ok(())
    }
}
