//! What an agent runs: the services of a net are polled by the monitor's engine ([`polls`]), its journeys
//! run as they do everywhere ([`trips`]). Nothing is stored: what is found goes to who asks for it.

mod polls;
mod trips;

use std::sync::Arc;

use mainstay_base::Clock;
use mainstay_fleet::agent::{BadNet, Checker, Checks, Reporter, Running};
use mainstay_journeys::Courier;
use mainstay_outbound::Web;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::polls::Polls;
use self::trips::Trips;
use crate::net::NetPlan;

/// Runs the checks of nets.
pub(crate) struct NetRunner {
    polls: Polls,
    trips: Trips,
}

/// The checks of one net.
struct NetChecks {
    plan: NetPlan,
    polls: Polls,
    trips: Trips,
}

impl NetRunner {
    /// Calls others by `web`; everything ends with `stop`. Call it inside of the runtime.
    ///
    /// # Errors
    /// When journeys can't be prepared.
    pub(crate) fn start(
        web: Web,
        clock: Arc<dyn Clock>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> anyhow::Result<Self> {
        let courier = Courier::new(web.clone(), Arc::clone(&clock))?;
        let trips = Trips::new(courier, Arc::clone(&clock));
        Ok(Self { polls: Polls::start(web, clock, tasks, stop), trips })
    }
}

impl Checker for NetRunner {
    fn checks(&self, definition: &Value) -> Result<Box<dyn Checks>, BadNet> {
        let plan = NetPlan::read(definition)?;
        let (polls, trips) = (self.polls.clone(), self.trips.clone());
        Ok(Box::new(NetChecks { plan, polls, trips }))
    }
}

impl Checks for NetChecks {
    fn count(&self) -> usize {
        self.plan.services.len().saturating_add(self.plan.journeys.len())
    }

    fn start(self: Box<Self>, reporter: Reporter) -> Running {
        let Self { plan, polls, trips } = *self;
        let polled = polls.watch(&plan.services, &reporter);
        Box::new((polled, trips.start(plan.journeys, &reporter)))
    }
}
