//! The rows of instances: who runs, since when, and until when it counts as alive.

use std::time::Duration;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, Tx, values};

use crate::shards::model::{SETTLED_AFTER, Standing};

/// How long an instance that is gone is still shown.
pub(crate) const GONE_KEPT_FOR: Duration = Duration::from_hours(24);
/// The most instances that are kept; the oldest that are gone leave first.
pub(crate) const MOST_KEPT: u32 = 200;

const REGISTER: Sql = Sql::same(
    "monitor.register_instance",
    "INSERT INTO instances (id, name, version, started_at, renewed_at, expires_at, services, lag_ms)
     VALUES ($1, $2, $3, $4, $5, $6, 0, 0)",
);
const RENEW: Sql = Sql::same(
    "monitor.renew_instance",
    "UPDATE instances SET renewed_at = $2, expires_at = $3, services = $4, lag_ms = $5
     WHERE id = $1 AND gone_at IS NULL",
);
// Its row is locked by this, so that who renews in the same moment either comes first and is not found
// dead, or waits and finds that it is gone. Nobody waits for one that stands still in between.
macro_rules! bury {
    ($lock:literal) => {
        concat!(
            "UPDATE instances SET gone_at = $1, gone_why = 'lost' WHERE id IN (
               SELECT id FROM instances WHERE gone_at IS NULL AND expires_at <= $1",
            $lock,
            ")"
        )
    };
}
const BURY: Sql = Sql::pair("monitor.bury_instances", bury!(""), bury!(" FOR UPDATE SKIP LOCKED"));
const BURY_OTHERS: Sql = Sql::same(
    "monitor.bury_other_instances",
    "UPDATE instances SET gone_at = $2, gone_why = 'lost' WHERE gone_at IS NULL AND id <> $1",
);
const LEAVE: Sql = Sql::same(
    "monitor.leave",
    "UPDATE instances SET gone_at = $2, gone_why = 'stopped' WHERE id = $1 AND gone_at IS NULL",
);
const SWEEP: Sql = Sql::same(
    "monitor.sweep_instances",
    "DELETE FROM instances WHERE gone_at IS NOT NULL AND (gone_at < $1 OR id NOT IN (
       SELECT id FROM instances ORDER BY renewed_at DESC, id DESC LIMIT $2))",
);
const IS_KNOWN: Sql =
    Sql::same("monitor.is_known_instance", "SELECT id FROM instances WHERE id = $1");
const STANDINGS: Sql = Sql::same(
    "monitor.standings",
    "SELECT id, renewed_at - started_at AS age, expires_at, gone_at FROM instances ORDER BY id",
);
const SHOWN: Sql = Sql::same(
    "monitor.shown_instances",
    "SELECT id, name, version, started_at, renewed_at, expires_at, services, lag_ms, gone_at, gone_why
     FROM instances ORDER BY CASE WHEN gone_at IS NULL THEN 0 ELSE 1 END, started_at DESC, id DESC
     LIMIT $1",
);

/// Who an instance is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registered<'a> {
    pub(crate) id: Id,
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    pub(crate) started_at: Timestamp,
    /// `None` where nobody else can have the database.
    pub(crate) expires_at: Option<Timestamp>,
}

/// What an instance says of itself when it renews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Load {
    /// How many services it polls.
    pub(crate) services: u32,
    /// How late the latest of them is.
    pub(crate) lag: Duration,
}

/// An instance, as it is shown.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) started_at: Timestamp,
    pub(crate) renewed_at: Timestamp,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) services: i64,
    pub(crate) lag_ms: i64,
    pub(crate) gone_at: Option<Timestamp>,
    pub(crate) gone_why: Option<String>,
}

/// A new instance.
pub(crate) async fn register(
    tx: &mut Tx,
    who: Registered<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Registered { id, name, version, started_at, expires_at } = who;
    tx.execute(&REGISTER, values![id, name, version, started_at, now, expires_at]).await.map(drop)
}

/// Whether there is, or was, an instance of this id.
pub(crate) async fn is_known(tx: &mut Tx, id: Id) -> Result<bool, StoreError> {
    Ok(tx.fetch_optional(&IS_KNOWN, values![id]).await?.is_some())
}

/// Counts as alive for `lease` more; `false` when others have found it dead meanwhile.
pub(crate) async fn renew(
    tx: &mut Tx,
    id: Id,
    load: Load,
    now: Timestamp,
    lease: Duration,
) -> Result<bool, StoreError> {
    let lag_ms = i64::try_from(load.lag.as_millis()).unwrap_or(i64::MAX);
    let values = values![id, now, now.plus(lease), load.services, lag_ms];
    Ok(tx.execute(&RENEW, values).await? > 0)
}

/// Says of those who have not renewed that they are gone: they never come back under their id.
pub(crate) async fn bury(tx: &mut Tx, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&BURY, values![now]).await.map(drop)
}

/// Says of everybody else that they are gone, where only one can have the database.
pub(crate) async fn bury_others(tx: &mut Tx, me: Id, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&BURY_OTHERS, values![me, now]).await.map(drop)
}

/// It stops.
pub(crate) async fn leave(tx: &mut Tx, me: Id, now: Timestamp) -> Result<(), StoreError> {
    tx.execute(&LEAVE, values![me, now]).await.map(drop)
}

/// Removes those that are gone for long, and the oldest of too many.
pub(crate) async fn sweep(tx: &mut Tx, now: Timestamp) -> Result<(), StoreError> {
    let kept = i64::try_from(GONE_KEPT_FOR.as_millis()).unwrap_or(i64::MAX);
    let before = Timestamp::from_millis(now.as_millis().saturating_sub(kept));
    tx.execute(&SWEEP, values![before, MOST_KEPT]).await.map(drop)
}

/// Every instance that is stored, as far as deciding needs it.
pub(crate) async fn standings(tx: &mut Tx) -> Result<Vec<Standing>, StoreError> {
    let read = |row: &Row| {
        let (expires_at, gone_at) = (row.get("expires_at")?, row.get("gone_at")?);
        let age = Duration::from_millis(u64::try_from(row.get::<i64>("age")?).unwrap_or_default());
        let is_settled = age >= SETTLED_AFTER;
        Ok(Standing { id: row.get("id")?, is_settled, expires_at, gone_at })
    };
    tx.fetch_all(&STANDINGS, &[]).await?.iter().map(read).collect()
}

/// Up to [`MOST_KEPT`] instances, those that are alive first.
pub(crate) async fn shown(snapshot: &mut Snapshot) -> Result<Vec<Shown>, StoreError> {
    let read = |row: &Row| {
        Ok(Shown {
            id: row.get("id")?,
            name: row.get("name")?,
            version: row.get("version")?,
            started_at: row.get("started_at")?,
            renewed_at: row.get("renewed_at")?,
            expires_at: row.get("expires_at")?,
            services: row.get("services")?,
            lag_ms: row.get("lag_ms")?,
            gone_at: row.get("gone_at")?,
            gone_why: row.get("gone_why")?,
        })
    };
    snapshot.fetch_all(&SHOWN, values![MOST_KEPT]).await?.iter().map(read).collect()
}
