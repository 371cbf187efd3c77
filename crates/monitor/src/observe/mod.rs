//! Looks at the world: makes the request of an endpoint, over the [`web`] or as a test says.

pub mod web;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

pub use self::web::WebObserver;
use crate::failure::PollFailure;
use crate::watch::Endpoint;

/// Makes the requests of polls: over the network, or as a test says.
pub trait Observe: Send + Sync + 'static {
    /// Asks an endpoint. It ends within the endpoint's timeout.
    fn observe<'a>(&'a self, endpoint: &'a Arc<Endpoint>) -> Observing<'a>;
}

/// A request under way.
pub type Observing<'a> = Pin<Box<dyn Future<Output = Observation> + Send + 'a>>;

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// How long it took.
    pub latency: Duration,
    /// The body of an answer that says all is well, or why there is none.
    pub answer: Result<Bytes, PollFailure>,
}
