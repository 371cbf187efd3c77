//! Makes and drops whole PostgreSQL databases, for tests that want a clean one each.

use std::pin::Pin;

use mainstay_base::Secret;
use sha2::{Digest as _, Sha256};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::error::StoreError;
use crate::migrations::ALL;
use crate::postgres;
use crate::sql::Dialect;

/// Under this lock the one that others are copied from is made.
const TEMPLATE_LOCK: i64 = 0x4D53_5459_0002;

/// Brings up the schema of the database with this address, and closes it.
pub type Migrate<'a> = &'a dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<(), StoreError>>>>;

/// Makes the empty database `name` on the server of `url` and gives its address.
///
/// # Errors
/// When the server refuses.
pub async fn create_database(url: &str, name: &str) -> Result<String, StoreError> {
    let mut connection = connect(url).await?;
    create(&mut connection, name, "template0").await?;
    close(connection).await;
    Ok(with_database(url, name))
}

/// Makes the database `name` with the whole schema: a copy of one that the first who asks has brought up,
/// which takes a fraction of the time.
///
/// # Errors
/// When the server refuses, or the schema can't be brought up.
pub async fn create_migrated_database(
    url: &str,
    name: &str,
    migrate: Migrate<'_>,
) -> Result<String, StoreError> {
    let mut connection = connect(url).await?;
    let template = template_name();
    let exists = format!("SELECT 1 FROM pg_database WHERE datname = '{template}'");
    execute(&mut connection, format!("SELECT pg_advisory_lock({TEMPLATE_LOCK})")).await?;
    if execute(&mut connection, exists).await? == 0 {
        let making = format!("{template}_making");
        // Whoever died while making it has left a part.
        let leftover = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(&making));
        execute(&mut connection, leftover).await?;
        create(&mut connection, &making, "template0").await?;
        migrate(with_database(url, &making)).await?;
        let made = format!("ALTER DATABASE {} RENAME TO {}", quoted(&making), quoted(&template));
        execute(&mut connection, made).await?;
    }
    execute(&mut connection, format!("SELECT pg_advisory_unlock({TEMPLATE_LOCK})")).await?;
    create(&mut connection, name, &template).await?;
    close(connection).await;
    Ok(with_database(url, name))
}

/// Drops the database `name` on the server of `url`, with whoever is connected to it.
///
/// # Errors
/// When the server refuses.
pub async fn drop_database(url: &str, name: &str) -> Result<(), StoreError> {
    let mut connection = connect(url).await?;
    let statement = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", quoted(name));
    execute(&mut connection, statement).await?;
    close(connection).await;
    Ok(())
}

/// Another schema has another one.
fn template_name() -> String {
    let mut digest = Sha256::new();
    for migration in ALL {
        digest.update(migration.up(Dialect::Postgres));
    }
    let digest: String =
        digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("mainstay_test_template_{digest}")
}

async fn create(
    connection: &mut PgConnection,
    name: &str,
    template: &str,
) -> Result<(), StoreError> {
    let (name, template) = (quoted(name), quoted(template));
    let statement = format!("CREATE DATABASE {name} TEMPLATE {template} ENCODING 'UTF8'");
    execute(connection, statement).await.map(drop)
}

async fn connect(url: &str) -> Result<PgConnection, StoreError> {
    let options = postgres::connect_options(&Secret::new(url.to_owned()))?;
    postgres::connect_once(&options, &postgres::shown(&options)).await
}

/// Gives how many rows there were.
async fn execute(connection: &mut PgConnection, statement: String) -> Result<u64, StoreError> {
    let done = sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await;
    let done =
        done.map_err(|error| StoreError::of_statement(Dialect::Postgres, "testing", error))?;
    Ok(done.rows_affected())
}

/// All is done; how the connection ends no longer matters.
async fn close(connection: PgConnection) {
    let _ = connection.close().await;
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
