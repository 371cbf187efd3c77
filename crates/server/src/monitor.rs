//! Opens the monitor: header values are sealed under the pepper.

use std::sync::Arc;

use mainstay_accounts::Pepper;
use mainstay_base::{Clock, IdSource, Rng, SystemRng};
use mainstay_events::Events;
use mainstay_http::Monitor;
use mainstay_monitor::aliases::Aliases;
use mainstay_monitor::views::MISSING_SHOWN_FOR;
use mainstay_monitor::{Idle, Seal, Services, Views};

/// What header values are sealed for: nothing else opens them.
const PURPOSE: &str = "monitor.headers";

/// The monitor in the database of `events`, of an instance that polls nothing.
pub(crate) fn open(
    events: &Events,
    clock: &Arc<dyn Clock>,
    ids: &IdSource,
    pepper: Pepper,
) -> Monitor {
    let seal = Arc::new(PepperSeal { pepper, rng: Arc::new(SystemRng) });
    Monitor {
        services: Services::new(events.clone(), ids.clone(), seal, Arc::new(|| {})),
        aliases: Aliases::new(events.clone(), ids.clone()),
        views: Views::new(events.db().clone(), Arc::clone(clock), MISSING_SHOWN_FOR),
        polling: Arc::new(Idle),
        fetch: Arc::new(Idle),
    }
}

struct PepperSeal {
    pepper: Pepper,
    rng: Arc<dyn Rng>,
}

impl Seal for PepperSeal {
    fn seal(&self, plain: &[u8]) -> String {
        self.pepper.seal(PURPOSE, plain, &*self.rng)
    }

    fn open(&self, sealed: &str) -> Option<Vec<u8>> {
        self.pepper.open(PURPOSE, sealed)
    }
}
