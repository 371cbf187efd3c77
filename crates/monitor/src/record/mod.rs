//! All SQL of the monitor's recording: one transaction for a batch of results.
//!
//! Rows travel as one JSON text for each statement, which both databases take apart the same way.

pub(crate) mod circuits;
pub(crate) mod dependencies;
pub(crate) mod fence;
mod forget;
pub(crate) mod histories;
pub(crate) mod load;
pub(crate) mod overdue;
pub(crate) mod revisions;
pub(crate) mod states;

use serde::Serialize;

/// A statement over rows that travel as JSON in `$1`: between the two texts stand their columns.
///
/// On SQLite a column is `value ->> 'name'`; on PostgreSQL the record set gives it its type. By
/// `jsonb_each`, for which a row is parsed once: `json_each` writes it out as text again and parses it
/// for each column.
macro_rules! over_rows {
    ($name:literal, $before:literal, [$($column:ident $type:ident),+ $(,)?], $after:literal) => {
        mainstay_store::Sql::pair(
            $name,
            concat!(
                $before, " (SELECT ",
                over_rows!(@sqlite $($column),+),
                " FROM jsonb_each($1)) AS v ", $after
            ),
            concat!(
                $before, " json_to_recordset($1::json) AS v (",
                over_rows!(@postgres $($column $type),+),
                ") ", $after
            ),
        )
    };
    (@sqlite $first:ident $(, $rest:ident)*) => {
        concat!("value ->> '", stringify!($first), "' AS ", stringify!($first)
            $(, ", value ->> '", stringify!($rest), "' AS ", stringify!($rest))*)
    };
    (@postgres $first:ident $type:ident $(, $rest:ident $rest_type:ident)*) => {
        concat!(stringify!($first), " ", stringify!($type)
            $(, ", ", stringify!($rest), " ", stringify!($rest_type))*)
    };
}
pub(crate) use over_rows;

/// Rows as they travel.
pub(crate) fn rows_text<T: Serialize>(rows: &[T]) -> String {
    // Plain structs of numbers and texts: there is nothing in them that JSON can't hold.
    serde_json::to_string(rows).unwrap_or_default()
}
