//! What nobody reports or watches any more: dependencies are closed when they have been missing for
//! long, and what is closed leaves for good when no history of it is left.

use mainstay_base::Timestamp;
use mainstay_store::{Db, Row, Sql, StoreError, Tx, values};

use super::old::PORTION;
use crate::latency::budget::Budget;
use crate::record::histories::{ChangeRow, write_changes};
use crate::record::states;

const MISSING: Sql = Sql::same(
    "monitor.long_missing",
    "SELECT number, service_no FROM dependencies
     WHERE missing_since < $1 AND removed_at IS NULL ORDER BY missing_since LIMIT $2",
);
const CLOSE: Sql = Sql::pair(
    "monitor.close_dependencies",
    "UPDATE dependencies SET removed_at = $3
     WHERE number IN (SELECT value FROM json_each($1)) AND missing_since < $2 AND removed_at IS NULL
     RETURNING number, service_no, name",
    "UPDATE dependencies SET removed_at = $3
     WHERE number = ANY ($1) AND missing_since < $2 AND removed_at IS NULL
     RETURNING number, service_no, name",
);
// Latencies are those of a service as a whole, and leave no later than changes do.
const CLOSED: Sql = Sql::same(
    "monitor.closed_without_history",
    "SELECT d.number, d.service_no FROM dependencies AS d
     WHERE d.removed_at < $1
       AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.dependency_no = d.number)
       AND NOT EXISTS (SELECT 1 FROM dependency_errors AS e WHERE e.dependency_no = d.number)
     ORDER BY d.removed_at LIMIT $2",
);
const REMOVE: Sql = Sql::pair(
    "monitor.remove_closed",
    "DELETE FROM dependencies
     WHERE number IN (SELECT value FROM json_each($1)) AND removed_at < $2",
    "DELETE FROM dependencies WHERE number = ANY ($1) AND removed_at < $2",
);
const SERVICES: Sql = Sql::same(
    "monitor.removed_without_history",
    "SELECT s.number, s.number AS service_no FROM services AS s
     WHERE s.removed_at < $1
       AND NOT EXISTS (SELECT 1 FROM dependencies AS d WHERE d.service_no = s.number)
       AND NOT EXISTS (SELECT 1 FROM dependencies AS d WHERE d.linked_service_no = s.number)
       AND NOT EXISTS (SELECT 1 FROM changes AS c WHERE c.service_no = s.number)
       AND NOT EXISTS (SELECT 1 FROM poll_history AS p WHERE p.service_no = s.number)
       AND NOT EXISTS (SELECT 1 FROM latency_rollups AS r WHERE r.service_no = s.number)
     ORDER BY s.removed_at LIMIT $2",
);
const REMOVE_STATES: Sql = Sql::pair(
    "monitor.remove_states",
    "DELETE FROM service_states WHERE service_no IN (SELECT value FROM json_each($1))",
    "DELETE FROM service_states WHERE service_no = ANY ($1)",
);
const REMOVE_SERVICES: Sql = Sql::pair(
    "monitor.remove_services",
    "DELETE FROM services WHERE number IN (SELECT value FROM json_each($1))",
    "DELETE FROM services WHERE number = ANY ($1)",
);

/// What is done to what nobody reports or watches any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Closes dependencies that are missing since before this.
    Close { missing_since: i64, now: Timestamp },
    /// Removes dependencies that were closed before this.
    Dependencies { removed_at: i64 },
    /// Removes services that were removed before this.
    Services { removed_at: i64 },
}

/// Does portions for as long as there are any and the budget allows, and tells how many rows. What to
/// do is looked for outside the write: that reads all dependencies there are.
pub(crate) async fn take(db: &Db, step: Step, budget: &mut Budget<'_>) -> Result<u64, StoreError> {
    let mut done = 0_u64;
    while budget.take() {
        let found = find(db, step).await?;
        if found.numbers.is_empty() {
            break;
        }
        let rows = db.write(async |tx| change(tx, step, &found).await).await?;
        done = done.saturating_add(rows);
        if rows < PORTION {
            break;
        }
    }
    Ok(done)
}

/// What a portion is done to: numbers, and the services of them, each once and in order.
struct Found {
    numbers: Vec<i64>,
    services: Vec<i64>,
}

async fn find(db: &Db, step: Step) -> Result<Found, StoreError> {
    let (sql, before) = match step {
        Step::Close { missing_since, .. } => (&MISSING, missing_since),
        Step::Dependencies { removed_at } => (&CLOSED, removed_at),
        Step::Services { removed_at } => (&SERVICES, removed_at),
    };
    let limit = i64::try_from(PORTION).unwrap_or(i64::MAX);
    let (mut numbers, mut services) = (Vec::new(), Vec::new());
    for row in db.fetch_all(sql, values![before, limit]).await? {
        numbers.push(row.get("number")?);
        services.push(row.get("service_no")?);
    }
    services.sort_unstable();
    services.dedup();
    Ok(Found { numbers, services })
}

/// What has changed since it was found is left alone.
async fn change(tx: &mut Tx, step: Step, found: &Found) -> Result<u64, StoreError> {
    let Found { numbers, services } = found;
    states::hold(tx, services).await?;
    let rows = match step {
        Step::Close { missing_since, now } => {
            let closed = tx.fetch_all(&CLOSE, values![numbers, missing_since, now]).await?;
            write_changes(tx, &changes_of(&closed, now)?).await?;
            u64::try_from(closed.len()).unwrap_or(u64::MAX)
        }
        Step::Dependencies { removed_at } => {
            tx.execute(&REMOVE, values![numbers, removed_at]).await?
        }
        Step::Services { .. } => {
            tx.execute(&REMOVE_STATES, values![numbers]).await?;
            return tx.execute(&REMOVE_SERVICES, values![numbers]).await;
        }
    };
    states::touch(tx, services).await?;
    Ok(rows)
}

/// What was closed is told: how everything was at a moment is found from what changed.
fn changes_of(closed: &[Row], now: Timestamp) -> Result<Vec<ChangeRow>, StoreError> {
    let change = |row: &Row| {
        Ok(ChangeRow {
            at: now.as_millis(),
            kind: "removed",
            service_no: Some(row.get("service_no")?),
            dependency_no: Some(row.get("number")?),
            before: Some(row.get("name")?),
            after: None,
        })
    };
    closed.iter().map(change).collect()
}
