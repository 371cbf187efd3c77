//! How long a transaction that holds what others need may stand still.

use mainstay_store::{Dialect, Sql, StoreError, Tx};

/// The text that a statement adds to what it selects: from then on PostgreSQL ends the transaction if
/// its instance does nothing with it for three seconds. An instance that was frozen in the middle of it
/// would otherwise keep its rows from those who take over, for far longer than its lease.
macro_rules! short_patience {
    () => {
        "set_config('idle_in_transaction_session_timeout', '3s', true)"
    };
}
pub(crate) use short_patience;

const SHORTEN: Sql =
    Sql::same("monitor.shorten_patience", concat!("SELECT ", short_patience!(), " AS patience"));

/// Shortens the patience with this transaction, on PostgreSQL.
pub(crate) async fn shorten(tx: &mut Tx) -> Result<(), StoreError> {
    match tx.dialect() {
        Dialect::Postgres => tx.fetch_one(&SHORTEN, &[]).await.map(drop),
        Dialect::Sqlite => Ok(()),
    }
}
