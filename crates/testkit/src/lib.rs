//! For tests only: [`clock`] to move by hand, [`database`] of each kind, [`interrupt`] to drop a
//! future in the middle, [`plans`] of statements, [`ports`] that nobody else takes, [`proxy`] to make a server slow,
//! [`trap`] for one call of many, [`relay`] to set it for PostgreSQL, `s3` to store objects (by the feature of that
//! name), [`stalls`] of the machine, [`tasks`] that are left.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that can't be set up must stop with the reason"
)]

pub mod clock;
pub mod database;
pub mod interrupt;
pub mod plans;
pub mod ports;
pub mod proxy;
pub mod relay;
#[cfg(feature = "s3")]
pub mod s3;
pub mod stalls;
pub mod tasks;
pub mod trap;

pub use clock::{FakeClock, set_database_clock};
pub use database::TestDatabase;
pub use interrupt::drop_at_await;
pub use plans::{plan, plan_with_ones};
pub use ports::{ClosedPort, quiet_port};
pub use proxy::SlowProxy;
pub use relay::PostgresRelay;
#[cfg(feature = "s3")]
pub use s3::S3Server;
pub use stalls::Stalls;
pub use tasks::tasks_left;
pub use trap::{Fault, Trap};
