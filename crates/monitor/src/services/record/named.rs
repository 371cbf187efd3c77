//! Finds a service by what others call it.

use mainstay_base::Id;
use mainstay_store::{Sql, StoreError, Tx, values};

const NAMED: Sql = Sql::same(
    "monitor.service_named",
    "SELECT id FROM services WHERE removed_at IS NULL AND (name_key = $1 OR health_endpoint = $2)
     ORDER BY CASE WHEN name_key = $1 THEN 0 ELSE 1 END, number LIMIT 1",
);

/// The service of this name, as it is compared, or else the first that is asked at this address.
pub(in crate::services) async fn named(
    tx: &mut Tx,
    name_key: &str,
    url: Option<&str>,
) -> Result<Option<Id>, StoreError> {
    let row = tx.fetch_optional(&NAMED, values![name_key, url]).await?;
    row.map(|row| row.get("id")).transpose()
}
