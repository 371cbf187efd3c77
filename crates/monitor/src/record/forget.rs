//! Dependencies that make room: their service has named too many others since.

use mainstay_store::{Sql, StoreError, Tx, values};

use super::dependencies::Ruled;

const LONGEST_MISSING: Sql = Sql::same(
    "monitor.longest_missing",
    "SELECT number, name FROM dependencies
     WHERE service_no = $1 AND (missing_since IS NOT NULL OR removed_at IS NOT NULL)
     ORDER BY coalesce(missing_since, removed_at), number LIMIT $2",
);
const CHANGES: Sql = Sql::pair(
    "monitor.forget_changes",
    "DELETE FROM changes WHERE dependency_no IN (SELECT value FROM json_each($1))",
    "DELETE FROM changes WHERE dependency_no = ANY ($1)",
);
const ERRORS: Sql = Sql::pair(
    "monitor.forget_errors",
    "DELETE FROM dependency_errors WHERE dependency_no IN (SELECT value FROM json_each($1))",
    "DELETE FROM dependency_errors WHERE dependency_no = ANY ($1)",
);
const DEPENDENCIES: Sql = Sql::pair(
    "monitor.forget_dependencies",
    "DELETE FROM dependencies WHERE number IN (SELECT value FROM json_each($1))",
    "DELETE FROM dependencies WHERE number = ANY ($1)",
);

/// Removes those that are missing longest, with what became of them, where there are too many.
pub(super) async fn forget(tx: &mut Tx, ruled: &mut [Ruled<'_>]) -> Result<(), StoreError> {
    for one in ruled.iter_mut().filter(|one| one.ruling.excess > 0) {
        let most = i64::try_from(one.ruling.excess).unwrap_or(i64::MAX);
        let mut numbers: Vec<i64> = Vec::new();
        for row in tx.fetch_all(&LONGEST_MISSING, values![one.service_no, most]).await? {
            numbers.push(row.get("number")?);
            one.ruling.forgotten.push(row.get::<String>("name")?.into());
        }
        for sql in [&CHANGES, &ERRORS, &DEPENDENCIES] {
            tx.execute(sql, values![&numbers]).await?;
        }
    }
    Ok(())
}
