//! The rows of polls that one instance was asked for and another makes.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Db, Sql, StoreError, Tx, values};

/// The longest that a request is kept, whatever became of it.
const KEPT_FOR: Duration = Duration::from_secs(180);
/// The most requests that one look sees.
const MOST_SEEN: u32 = 100;

const IS_POLLED: Sql = Sql::same(
    "monitor.is_polled",
    "SELECT number FROM services WHERE number = $1 AND is_active = 1 AND removed_at IS NULL",
);
const SWEEP: Sql =
    Sql::same("monitor.sweep_poll_requests", "DELETE FROM poll_requests WHERE asked_at < $1");
const ASK: Sql = Sql::same(
    "monitor.ask_for_poll",
    "INSERT INTO poll_requests (id, service_no, asked_at) VALUES ($1, $2, $3)",
);
const OPEN: Sql = Sql::same(
    "monitor.open_poll_requests",
    "SELECT id, service_no FROM poll_requests WHERE claimed_by IS NULL AND asked_at >= $1
     ORDER BY asked_at, id LIMIT $2",
);
const CLAIM: Sql = Sql::same(
    "monitor.claim_poll_request",
    "UPDATE poll_requests SET claimed_by = $2 WHERE id = $1 AND claimed_by IS NULL",
);
const ANSWER: Sql =
    Sql::same("monitor.answer_poll_request", "UPDATE poll_requests SET answer = $2 WHERE id = $1");
const LOOK: Sql = Sql::same(
    "monitor.look_at_poll_request",
    "SELECT r.claimed_by, r.answer, i.id AS there FROM poll_requests AS r
     LEFT JOIN instances AS i ON i.id = r.claimed_by AND i.gone_at IS NULL WHERE r.id = $1",
);
const FORGET: Sql =
    Sql::same("monitor.forget_poll_request", "DELETE FROM poll_requests WHERE id = $1");
const WITHDRAW: Sql = Sql::same(
    "monitor.withdraw_poll_request",
    "DELETE FROM poll_requests WHERE id = $1 AND claimed_by IS NULL",
);

/// What has become of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nobody has seen it yet.
    Open,
    /// Somebody polls.
    Claimed,
    /// Who polled is lost, or has stopped.
    Abandoned,
    /// This came of it.
    Answered(String),
    /// It is not there any more.
    Gone,
}

/// Asks whoever polls the service to do it now; `false` when nobody is to poll it.
pub(crate) async fn ask(tx: &mut Tx, id: Id, service_no: i64) -> Result<bool, StoreError> {
    if tx.fetch_optional(&IS_POLLED, values![service_no]).await?.is_none() {
        return Ok(false);
    }
    let now = tx.now().await?;
    let kept = i64::try_from(KEPT_FOR.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp::from_millis(now.as_millis().saturating_sub(kept));
    tx.execute(&SWEEP, values![before]).await?;
    tx.execute(&ASK, values![id, service_no, now]).await?;
    Ok(true)
}

/// Requests since then that nobody has claimed, oldest first.
pub(crate) async fn open(db: &Db, since: Timestamp) -> Result<Vec<(Id, i64)>, StoreError> {
    let rows = db.fetch_all(&OPEN, values![since, MOST_SEEN]).await?;
    rows.iter().map(|row| Ok((row.get("id")?, row.get("service_no")?))).collect()
}

/// Takes a request on; `false` when another was faster.
pub(crate) async fn claim(tx: &mut Tx, id: Id, by: Id) -> Result<bool, StoreError> {
    Ok(tx.execute(&CLAIM, values![id, by]).await? > 0)
}

/// Writes down what came of it.
pub(crate) async fn answer(tx: &mut Tx, id: Id, answer: &str) -> Result<(), StoreError> {
    tx.execute(&ANSWER, values![id, answer]).await.map(drop)
}

/// What has become of a request.
pub(crate) async fn fate(db: &Db, id: Id) -> Result<Fate, StoreError> {
    let Some(row) = db.fetch_optional(&LOOK, values![id]).await? else { return Ok(Fate::Gone) };
    Ok(match (row.get("answer")?, row.get::<Option<String>>("claimed_by")?) {
        (Some(answer), _) => Fate::Answered(answer),
        (None, Some(_)) if row.get::<Option<String>>("there")?.is_some() => Fate::Claimed,
        (None, Some(_)) => Fate::Abandoned,
        (None, None) => Fate::Open,
    })
}

/// It is over.
pub(crate) async fn forget(tx: &mut Tx, id: Id) -> Result<(), StoreError> {
    tx.execute(&FORGET, values![id]).await.map(drop)
}

/// Takes a request back; `false` when somebody has claimed it meanwhile.
pub(crate) async fn withdraw(tx: &mut Tx, id: Id) -> Result<bool, StoreError> {
    Ok(tx.execute(&WITHDRAW, values![id]).await? > 0)
}
