//! One look at the system's health, shared by all who ask at the same time.
//!
//! `/readyz` is open to everyone; without sharing, it would be a way to hammer the database.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::timeout;

use crate::error::Error;
use crate::limits::Limits;
use crate::surface::{CheckStatus, Probe, SystemCheck};

/// What the last look found, and the way to look again. A clone is the same.
#[derive(Clone)]
pub(crate) struct SharedProbe {
    probe: Arc<dyn Probe>,
    clock: Arc<dyn Clock>,
    time: Duration,
    age: Duration,
    last: Arc<Mutex<Option<Look>>>,
}

struct Look {
    at: Moment,
    checks: Arc<[SystemCheck]>,
}

impl SharedProbe {
    pub(crate) fn new(probe: Arc<dyn Probe>, clock: Arc<dyn Clock>, limits: &Limits) -> Self {
        let (time, age) = (limits.probe_time, limits.probe_age);
        Self { probe, clock, time, age, last: Arc::default() }
    }

    /// The checks of the last look if it is fresh, otherwise of a new one.
    pub(crate) async fn checks(&self) -> Result<Arc<[SystemCheck]>, Error> {
        let last = Arc::clone(&self.last).lock_owned().await;
        if let Some(look) = last.as_ref()
            && self.clock.moment().since(look.at) < self.age
        {
            return Ok(Arc::clone(&look.checks));
        }
        self.look(last).await
    }

    /// Looks on a task of its own, which holds the lock: a client that hangs up cannot make the next
    /// one start anew.
    async fn look(
        &self,
        mut last: OwnedMutexGuard<Option<Look>>,
    ) -> Result<Arc<[SystemCheck]>, Error> {
        let (probe, clock) = (Arc::clone(&self.probe), Arc::clone(&self.clock));
        let limit = self.time;
        let looking = tokio::spawn(async move {
            let found = timeout(limit, probe.check()).await;
            let checks: Arc<[SystemCheck]> = found.unwrap_or_else(|_| vec![too_slow(limit)]).into();
            *last = Some(Look { at: clock.moment(), checks: Arc::clone(&checks) });
            checks
        });
        looking.await.map_err(Error::internal)
    }
}

/// Whether everything works.
pub(crate) fn all_healthy(checks: &[SystemCheck]) -> bool {
    checks.iter().all(|check| check.status == CheckStatus::Healthy)
}

fn too_slow(limit: Duration) -> SystemCheck {
    SystemCheck {
        name: "probe".to_owned(),
        status: CheckStatus::Down,
        detail: format!("The checks did not finish within {} seconds", limit.as_secs_f64()),
        latency_ms: limit.as_secs_f64() * 1000.0,
    }
}
