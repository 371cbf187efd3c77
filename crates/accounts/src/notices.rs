//! Mail to the admins about requests for access, bounded whoever asks how often.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_store::Tx;

use crate::accounts::Accounts;
use crate::email::Email;
use crate::error::AccountsError;
use crate::record::buckets::{self, Bucket};
use crate::record::users;

/// Requests for access that the admins are told of in [`NOTICE_SPAN`]: whoever makes up requests
/// must not fill their mailboxes. All of them are in the dashboard.
pub const MAX_NOTICES: i64 = 10;
/// Any span of this length holds no more than [`MAX_NOTICES`].
pub const NOTICE_SPAN: Duration = Duration::from_hours(1);

/// Admins who are told of a request.
const MAX_TOLD: i64 = 20;

const NOTICE_SCOPE: &str = "access_request_notice";

impl Accounts {
    /// Tells the admins of a request in its own transaction, unless they were told often enough.
    /// Each notice keeps its time in the database, so that the bound holds over restarts and
    /// instances on both databases.
    pub(crate) async fn tell_admins(&self, tx: &mut Tx, from: &Email) -> Result<(), AccountsError> {
        let now = self.now();
        let subject = self.shared.pepper.keyed("access-notice", b"");
        buckets::notices_one_by_one(tx).await?;
        let (since, until) = window(now);
        if buckets::sum(tx, NOTICE_SCOPE, &subject, since, until).await? >= MAX_NOTICES {
            tracing::warn!("many ask for access; the admins get no more mail about it for now");
            return Ok(());
        }
        let admins = users::admins(tx, MAX_TOLD).await?;
        if self.shared.post.access_request(tx, &admins, from).await? {
            let stamp = Bucket { scope: NOTICE_SCOPE, subject_hash: &subject, start: now };
            buckets::add(tx, stamp).await?;
        }
        Ok(())
    }
}

/// The notices that count: those of the span before `now`. A clock that was set back far must not
/// silence them for as long, so what seems to come from beyond the next span does not count.
fn window(now: Timestamp) -> (Timestamp, Timestamp) {
    let span = i64::try_from(NOTICE_SPAN.as_millis()).unwrap_or(i64::MAX);
    (Timestamp::from_millis(now.as_millis().saturating_sub(span)), now.plus(NOTICE_SPAN))
}
