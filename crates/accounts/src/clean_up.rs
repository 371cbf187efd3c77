//! Removes what is over. Somebody calls it every few minutes.

use std::time::Duration;

use mainstay_base::Timestamp;

use crate::accounts::Accounts;
use crate::error::AccountsError;
use crate::model::{INVITE_TIME, SETUP_TIME};
use crate::record::cleanup::{
    self, AUDIT, BUCKETS, Broom, INVITES, PORTION, REQUESTS, SESSIONS, SETUP_LINKS, TOKENS, WINDOWS,
};

/// Portions that one round removes of each kind; the rest waits for the next.
const PORTIONS: u32 = 200;
/// How long counts are kept.
const BUCKETS_KEPT: Duration = Duration::from_hours(14 * 24);
/// How long a window is kept after its last request; it must be longer than any window.
const WINDOWS_KEPT: Duration = Duration::from_hours(24);
/// How long ended tokens and invites are still shown.
const ENDED_KEPT: Duration = Duration::from_hours(30 * 24);

impl Accounts {
    /// Removes a bounded number of what is over, and tells how many rows that were. `audit_kept` is
    /// how long the audit log and requests for access go back.
    ///
    /// # Errors
    /// The first failure; what else is over is removed all the same.
    pub async fn clean_up(&self, audit_kept: Duration) -> Result<u64, AccountsError> {
        let now = self.now();
        let (mut removed, mut failed) = (0, None);
        for (broom, kept) in [
            (&SESSIONS, Duration::ZERO),
            (&TOKENS, ENDED_KEPT),
            (&INVITES, ENDED_KEPT),
            (&SETUP_LINKS, SETUP_TIME),
            (&BUCKETS, BUCKETS_KEPT),
            (&WINDOWS, WINDOWS_KEPT),
            (&REQUESTS, audit_kept),
            (&AUDIT, audit_kept),
        ] {
            match self.sweep(broom, before(now, kept), PORTIONS).await {
                Ok(count) => removed += count,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(removed), Err)
    }

    /// One portion of old counts, for the request that happens to be the hundredth.
    pub(crate) async fn clean_buckets(&self) {
        if let Err(error) = self.sweep(&BUCKETS, before(self.now(), BUCKETS_KEPT), 1).await {
            tracing::warn!(%error, "cleaning up failed; trying later");
        }
    }

    async fn sweep(
        &self,
        broom: &Broom,
        until: Timestamp,
        portions: u32,
    ) -> Result<u64, AccountsError> {
        let mut removed = 0;
        for _ in 0..portions {
            let count = cleanup::sweep(self.db(), broom, until).await?;
            removed += count;
            if count < PORTION.unsigned_abs() {
                break;
            }
        }
        if removed > 0 {
            tracing::debug!(statement = broom.name(), removed, "cleaned up");
        }
        Ok(removed)
    }
}

fn before(now: Timestamp, kept: Duration) -> Timestamp {
    let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(kept))
}

const _: () = assert!(INVITE_TIME.as_secs() < ENDED_KEPT.as_secs());
