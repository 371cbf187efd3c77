//! What every task of the streams works with.

use std::sync::Arc;

use mainstay_base::{Clock, Rng};
use mainstay_store::Db;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The database, time, chance, and the end of it all. A clone is the same tools.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) db: Db,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}
