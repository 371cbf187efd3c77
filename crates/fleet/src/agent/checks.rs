//! What a net has an agent do. Who knows how to poll a service or to run a journey implements it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;

/// The most checks of one net.
pub const MAX_CHECKS: usize = 200;

/// The shortest time between two runs of a check.
pub const MIN_EVERY: Duration = Duration::from_secs(1);

/// Why a net can't be run: a sentence for whoever wrote it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadNet(pub String);

/// Makes checks of a definition.
pub trait Checker: Send + Sync + 'static {
    /// The checks of a net.
    ///
    /// # Errors
    /// [`BadNet`] says what is wrong with the definition.
    fn checks(&self, definition: &Value) -> Result<Vec<Arc<dyn Check>>, BadNet>;
}

/// One check: it runs over and over, and ends in time.
pub trait Check: Send + Sync + 'static {
    /// The time between two runs.
    fn every(&self) -> Duration;

    /// Runs it once. Whatever comes of it is a finding.
    fn run(&self) -> BoxFuture<'_, Value>;
}
