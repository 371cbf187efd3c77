//! Several instances share the polling.
//!
//! All hosts are divided into [`shard`]s, and each shard has one owner: its row says who, and under
//! which generation ([`model`]). An instance's `keeper` looks at the rows every few seconds, [`decide`]
//! says what to take and what to hand over (pure), `record` writes it (all SQL), and the [`tenure`]
//! tells the engine what it may poll. What was polled under an earlier generation is not recorded:
//! see `record::fence`. Times that are stored are the database's, by [`wall`]. Whoever is asked to poll
//! what another one owns has it done by `errands`; `view` shows who there is.

pub mod decide;
mod errands;
mod keeper;
mod look;
mod measure;
pub mod model;
mod record;
pub mod shard;
pub mod tenure;
mod view;
pub mod wall;

#[cfg(test)]
mod tests;

pub use errands::Errands;
pub use keeper::{About, Keeper, KeeperParts};
pub use measure::describe_metrics;
pub use model::Lease;
pub(crate) use record::patience::{short_patience, shorten as shorten_patience};
pub use shard::{SHARDS, Shard, ShardSet};
pub use tenure::{Holding, Tenure};
pub use view::{InstanceState, InstanceView, Instances, InstancesView, PolledBy};
pub use wall::DatabaseClock;
