//! What the engine knows of a service: where to ask, how often, and how to read the answer.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mainstay_base::{Id, Secret};
use mainstay_kernel::HostKey;
use mainstay_outbound::web::WebRequest;

use crate::failure::PollFailure;
use crate::formats::Format;
use crate::shards::Lease;

/// The number of a service: short, and never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServiceNumber(pub i64);

/// A service to poll.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Its number.
    pub number: ServiceNumber,
    /// Its public id.
    pub id: Id,
    /// Its name, for people.
    pub name: Arc<str>,
    /// Where to ask.
    pub endpoint: Arc<Endpoint>,
    /// How to read the answer.
    pub format: Arc<Format>,
    /// How often.
    pub interval: Duration,
    /// Counts the edits of its definition.
    pub revision: i64,
    /// Counts those after which a poll that is under way says nothing of it any more.
    pub generation: i64,
    /// The lease that it is polled under; `None` where nobody else polls.
    pub lease: Option<Lease>,
}

/// Where a service is asked. Two that are equal make the same request.
#[derive(Debug)]
pub struct Endpoint {
    /// The host whose slots it takes.
    pub host: HostKey,
    /// The address, as the user gave it.
    pub url: String,
    /// Further headers of the request; their values are secrets.
    pub headers: Vec<(String, Secret<String>)>,
    /// How long the whole request may take. It is not part of what makes two endpoints equal, but only
    /// those of the same patience share a request.
    pub timeout: Duration,
    fingerprint: u64,
    /// The request, prepared when it is first made.
    prepared: OnceLock<Result<WebRequest, PollFailure>>,
}

impl Endpoint {
    /// Where to ask, with what, and for how long.
    #[must_use]
    pub fn new(
        host: HostKey,
        url: String,
        headers: Vec<(String, Secret<String>)>,
        timeout: Duration,
    ) -> Self {
        // Its keys are fixed, and only places depend on it: within an interval, and among flights.
        let mut hasher = DefaultHasher::new();
        // Equal endpoints have equal addresses; their headers rarely tell two apart.
        url.hash(&mut hasher);
        let fingerprint = hasher.finish();
        Self { host, url, headers, timeout, fingerprint, prepared: OnceLock::new() }
    }

    /// The request as `prepare` makes it, once.
    pub(crate) fn request(
        &self,
        prepare: impl FnOnce(&Self) -> Result<WebRequest, PollFailure>,
    ) -> Result<&WebRequest, &PollFailure> {
        self.prepared.get_or_init(|| prepare(self)).as_ref()
    }

    /// A number that is the same for equal endpoints, wherever and whenever it is taken.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
            && self.headers.len() == other.headers.len()
            && self.headers.iter().zip(&other.headers).all(|(one, two)| {
                one.0.eq_ignore_ascii_case(&two.0) && one.1.expose() == two.1.expose()
            })
    }
}

impl Eq for Endpoint {}

impl Hash for Endpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}
