//! The epoch: one word for the whole database, another one in each copy of it.

use mainstay_base::Rng;
use mainstay_store::{Db, Sql, StoreError, values};

/// Random bytes of an epoch.
const EPOCH_BYTES: usize = 8;

const CREATE: Sql = Sql::same(
    "events.create_epoch",
    "INSERT INTO event_epoch (singleton, epoch) VALUES (1, $1) ON CONFLICT (singleton) DO NOTHING",
);

const RENEW: Sql = Sql::same(
    "events.renew_epoch",
    "INSERT INTO event_epoch (singleton, epoch) VALUES (1, $1)
     ON CONFLICT (singleton) DO UPDATE SET epoch = excluded.epoch",
);

const FIND: Sql =
    Sql::same("events.find_epoch", "SELECT epoch FROM event_epoch WHERE singleton = 1");

/// The epoch of `db`, made when there is none yet.
pub(crate) async fn find_or_create(db: &Db, rng: &dyn Rng) -> Result<String, StoreError> {
    if let Some(row) = db.fetch_optional(&FIND, &[]).await? {
        return row.get("epoch");
    }
    let fresh = fresh(rng);
    db.write(async |tx| {
        tx.execute(&CREATE, values![&fresh]).await?;
        tx.fetch_one(&FIND, &[]).await?.get("epoch")
    })
    .await
}

/// Gives `db` another epoch, and gives it back.
pub(crate) async fn renew(db: &Db, rng: &dyn Rng) -> Result<String, StoreError> {
    let fresh = fresh(rng);
    db.write(async |tx| tx.execute(&RENEW, values![&fresh]).await.map(drop)).await?;
    Ok(fresh)
}

fn fresh(rng: &dyn Rng) -> String {
    let mut chance = [0_u8; EPOCH_BYTES];
    rng.fill(&mut chance);
    chance.iter().map(|byte| format!("{byte:02x}")).collect()
}
