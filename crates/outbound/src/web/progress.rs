//! How far a call has come: when its time runs out, that is what is told.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use super::error::{FetchError, FetchErrorKind};

/// A part of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Step {
    /// The name is being resolved.
    Lookup = 0,
    /// A place among the connections is waited for.
    Place = 1,
    /// The connection is being made.
    Connect = 2,
    /// The connection is being encrypted.
    Encrypt = 3,
    /// The question is out.
    Answer = 4,
}

/// The step that a call is at.
#[derive(Debug)]
pub(crate) struct Progress(AtomicU8);

impl Progress {
    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(Step::Lookup as u8))
    }

    pub(crate) fn reach(&self, step: Step) {
        self.0.store(step as u8, Ordering::Relaxed);
    }

    /// The time ran out at this step.
    pub(crate) fn ran_out(&self, limit: Duration) -> FetchError {
        let steps = [Step::Lookup, Step::Place, Step::Connect, Step::Encrypt];
        let at = self.0.load(Ordering::Relaxed);
        match steps.into_iter().find(|step| *step as u8 == at) {
            Some(Step::Lookup) => lookup_ran_out(limit),
            Some(Step::Place) => FetchError::new(
                FetchErrorKind::Timeout,
                format!(
                    "no connection came free within {limit:?}; Mainstay has too many calls open"
                ),
            ),
            Some(Step::Connect) => connect_ran_out(limit),
            Some(Step::Encrypt) => encrypt_ran_out(limit),
            _ => FetchError::timeout(limit),
        }
    }

    /// The time to connect ran out at this step.
    pub(crate) fn connect_ran_out(&self, limit: Duration) -> FetchError {
        if self.0.load(Ordering::Relaxed) == Step::Encrypt as u8 {
            encrypt_ran_out(limit)
        } else {
            connect_ran_out(limit)
        }
    }
}

pub(crate) fn lookup_ran_out(limit: Duration) -> FetchError {
    let message = format!(
        "the name was not resolved within {limit:?}; check the DNS servers of the host that Mainstay runs on"
    );
    FetchError::new(FetchErrorKind::Dns, message)
}

fn connect_ran_out(limit: Duration) -> FetchError {
    let message = format!(
        "no connection within {limit:?}; check host and port, and whether a firewall drops the packets"
    );
    FetchError::new(FetchErrorKind::ConnectTimeout, message)
}

fn encrypt_ran_out(limit: Duration) -> FetchError {
    let message = format!(
        "the server took the connection but did not finish the TLS handshake within {limit:?}; check that the port speaks TLS"
    );
    FetchError::new(FetchErrorKind::ConnectTimeout, message)
}
