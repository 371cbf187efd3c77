//! The only door to a database. One SQL text runs on SQLite (embedded, the default) and on
//! PostgreSQL (several instances).
//!
//! The way of a write: [`options`] say where the database is → [`db`] opens it → the gate lets one
//! writer in → [`tx`] runs each [`sql`] with its [`value`]s and reads [`row`]s → the commit, and
//! what rings after it, run on a task of their own, so that a caller who hangs up leaves neither
//! half a write nor an open transaction.
//!
//! Beside it: [`migrate`] brings the schema up and down, [`backup`] copies and restores an SQLite
//! file, [`listen`] hears and rings PostgreSQL's bells, [`lock`] keeps a second program away from it, [`error`] says what went wrong.

pub mod backup;
pub mod db;
pub mod error;
mod gate;
pub mod installation;
mod lease;
pub mod listen;
pub mod lock;
mod measure;
pub mod migrate;
mod migrations;
pub mod options;
mod patience;
mod postgres;
mod probe;
pub mod row;
pub mod sql;
mod sqlite;
mod statement;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tx;
pub mod value;

pub use db::Db;
pub use error::StoreError;
pub use listen::{Listener, Notice, Notifier};
pub use measure::{METRIC_BUCKETS, describe_metrics};
pub use options::{StoreOptions, Target};
pub use row::Row;
pub use sql::{Dialect, Sql};
pub use statement::MAX_ROWS;
pub use tx::{Snapshot, Tx};
pub use value::Value;
