//! Opens the room of journeys: who keeps them, and who runs them.

use std::sync::Arc;

use mainstay_base::{Clock, IdSource};
use mainstay_events::Events;
use mainstay_jobs::{Handler, Jobs};
use mainstay_journeys::{Courier, JourneyRunner, Journeys, JourneysOptions, Luggage};

use crate::config::Config;
use crate::monitor;

/// The room.
pub(crate) fn open(config: &Config, events: &Events, jobs: &Jobs, ids: &IdSource) -> Journeys {
    Journeys::new(JourneysOptions {
        events: events.clone(),
        jobs: jobs.clone(),
        ids: ids.clone(),
        secret_names: config.secrets.keys().cloned().collect(),
    })
}

/// Who runs journeys. Whoever writes one can't have it call the port that Mainstay itself listens on.
pub(crate) fn runner(
    config: &Config,
    clock: &Arc<dyn Clock>,
    journeys: &Journeys,
    own_port: Option<u16>,
) -> anyhow::Result<Arc<dyn Handler>> {
    let web = monitor::web(config, Arc::clone(clock), own_port)?;
    let luggage = Luggage {
        courier: Courier::new(web, Arc::clone(clock))?,
        secrets: config.secrets.clone(),
        clock: Arc::clone(clock),
    };
    Ok(Arc::new(JourneyRunner::new(journeys.clone(), luggage)?))
}
