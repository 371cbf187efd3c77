//! How services were over the last day: one statement for all that are asked for.

use std::collections::HashMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::{Row, Snapshot, Sql, StoreError, values};

use super::overdue;
use crate::status::ServiceStatus;
use crate::views::board::strip::{CELL_MS, Now, Turns};

macro_rules! services {
    ($now:literal, $list:literal) => {
        concat!(
            "SELECT s.number, s.id, s.created_at, st.status, CASE WHEN ",
            overdue!($now),
            " THEN st.next_poll_at + 2 * s.poll_interval_ms END AS overdue_since
             FROM services AS s JOIN service_states AS st ON st.service_no = s.number
             WHERE s.removed_at IS NULL AND s.id ",
            $list
        )
    };
}
// However often one changes, there are only so many cells and words.
macro_rules! turns {
    ($list:literal) => {
        concat!(
            "SELECT service_no, (at - $2) / $3 AS cell, before, after, min(number) AS first_no,
               max(number) AS last_no
             FROM changes WHERE kind = 'service' AND at >= $2 AND service_no ",
            $list,
            " GROUP BY service_no, (at - $2) / $3, before, after"
        )
    };
}
pub(super) const SERVICES: Sql = Sql::pair(
    "monitor.services_of_strips",
    services!("$1", "IN (SELECT value FROM json_each($2))"),
    services!("((extract(epoch FROM statement_timestamp()) * 1000)::bigint + $1)", "= ANY ($2)"),
);
pub(super) const TURNS: Sql = Sql::pair(
    "monitor.turns_of_services",
    turns!("IN (SELECT value FROM json_each($1))"),
    turns!("= ANY ($1)"),
);

/// A service whose strip is asked for.
#[derive(Debug)]
pub(in crate::views) struct Asked {
    pub(in crate::views) number: i64,
    pub(in crate::views) id: Id,
    pub(in crate::views) now: Now,
}

/// Those of these services that there are.
pub(in crate::views) async fn services(
    snapshot: &mut Snapshot,
    tick: i64,
    ids: &[String],
) -> Result<Vec<Asked>, StoreError> {
    let rows = snapshot.fetch_all(&SERVICES, values![tick, ids]).await?;
    let read = |row: &Row| {
        Ok(Asked {
            number: row.get("number")?,
            id: row.get("id")?,
            now: Now {
                created_at: row.get("created_at")?,
                status: word(row, "status")?,
                overdue_since: row.get("overdue_since")?,
            },
        })
    };
    rows.iter().map(read).collect()
}

/// What became of these services since `from`, by their numbers.
pub(in crate::views) async fn turns(
    snapshot: &mut Snapshot,
    numbers: &[i64],
    from: Timestamp,
) -> Result<HashMap<i64, Vec<Turns>>, StoreError> {
    let mut all: HashMap<i64, Vec<Turns>> = HashMap::new();
    for row in snapshot.fetch_all(&TURNS, values![numbers, from, CELL_MS]).await? {
        let turns = Turns {
            cell: usize::try_from(row.get::<i64>("cell")?).unwrap_or(usize::MAX),
            before: word(&row, "before")?,
            after: word(&row, "after")?,
            first: row.get("first_no")?,
            last: row.get("last_no")?,
        };
        all.entry(row.get("service_no")?).or_default().push(turns);
    }
    Ok(all)
}

fn word(row: &Row, column: &str) -> Result<ServiceStatus, StoreError> {
    let text: Option<String> = row.get(column)?;
    Ok(text.as_deref().and_then(ServiceStatus::from_name).unwrap_or(ServiceStatus::Unknown))
}
