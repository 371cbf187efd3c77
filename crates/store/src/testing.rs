//! Makes and drops whole PostgreSQL databases, for tests that want a clean one each.

use mainstay_base::Secret;
use sqlx::{AssertSqlSafe, Connection as _};

use crate::error::StoreError;
use crate::postgres;
use crate::sql::Dialect;

/// Makes the database `name` on the server of `url` and gives its address.
///
/// # Errors
/// When the server refuses.
pub async fn create_database(url: &str, name: &str) -> Result<String, StoreError> {
    run(url, format!("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", quoted(name)))
        .await?;
    Ok(with_database(url, name))
}

/// Drops the database `name` on the server of `url`, with whoever is connected to it.
///
/// # Errors
/// When the server refuses.
pub async fn drop_database(url: &str, name: &str) -> Result<(), StoreError> {
    run(url, format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(name))).await
}

async fn run(url: &str, statement: String) -> Result<(), StoreError> {
    let options = postgres::connect_options(&Secret::new(url.to_owned()))?;
    let mut connection = postgres::connect_once(&options, &postgres::shown(&options)).await?;
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(&mut connection)
        .await
        .map_err(|error| StoreError::of_statement(Dialect::Postgres, "testing", error))?;
    // The statement is done; how the connection ends no longer matters.
    let _ = connection.close().await;
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `url` with another database, its query (such as `?host=/socket`) kept.
fn with_database(url: &str, name: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(a, q)| (a, Some(q)));
    let scheme_end = address.find("://").map_or(0, |at| at.saturating_add(3));
    let (scheme, rest) = address.split_at(scheme_end);
    let authority = rest.split('/').next().unwrap_or_default();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}{authority}/{name}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_an_address_is_replaced() {
        for (given, wanted) in [
            ("postgres://u:p@h:5/old", "postgres://u:p@h:5/new"),
            ("postgres://h", "postgres://h/new"),
            ("postgres:///old?host=/run", "postgres:///new?host=/run"),
        ] {
            assert_eq!(with_database(given, "new"), wanted);
        }
    }
}
