//! What is mended after the database's clock was set back: rows that speak of a time that is to come.

use std::time::Duration;

use mainstay_store::{Sql, StoreError};

use super::{Book, millis, timed};

// A row that was made or kept alive in the future was so before the clock was set back. Its waits begin
// anew from now; doing this twice changes nothing. One that is processing was due already: given back, it
// must be so again. One that was due before it was made was asked for at a time, and keeps it.
const MEND: Sql = timed!(
    "jobs.mend_times",
    "UPDATE jobs SET
       claim_at = CASE WHEN status = 'processing' THEN ",
    " + lock_ttl_seconds * 1000
         WHEN claim_at < created_at THEN claim_at WHEN created_at > ",
    " AND claim_at > created_at THEN ",
    " + claim_at - created_at ELSE ",
    " END,
       next_run_at = CASE WHEN next_run_at <= ",
    " THEN next_run_at WHEN status = 'processing' THEN ",
    " WHEN claim_at < created_at THEN next_run_at WHEN created_at > ",
    " AND claim_at > created_at THEN ",
    " + claim_at - created_at ELSE ",
    " END,
       heartbeat_at = CASE WHEN status = 'processing' THEN ",
    " END,
       created_at = CASE WHEN created_at > ",
    " THEN ",
    " ELSE created_at END
     WHERE claim_at IS NOT NULL AND (created_at > ",
    " + $2 OR heartbeat_at > ",
    " + $2)"
);

/// Mends rows that are ahead of the clock by more than `tolerated`.
pub(crate) async fn mend(book: &Book, tolerated: Duration) -> Result<u64, StoreError> {
    let values = [book.tick().into(), millis(tolerated).into()];
    book.db.write(async |tx| tx.execute(&MEND, &values).await).await
}
