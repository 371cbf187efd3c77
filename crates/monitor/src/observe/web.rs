//! Requests over the network, guarded by the outbound room.

use std::sync::Arc;

use bytes::Bytes;
use mainstay_base::Clock;
use mainstay_outbound::web::{FetchError, FetchErrorKind, Web, WebAnswer, WebRequest};
use url::Url;

use super::{Observation, Observe, Observing};
use crate::failure::{FailureKind, PollFailure};
use crate::policy::DEFAULT_TIMEOUT;
use crate::polling::{Answering, Fetch};
use crate::services::Address;
use crate::watch::Endpoint;

/// The longest answer that is read, packed and unpacked.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;
/// How many redirects are followed.
pub const MAX_REDIRECTS: u8 = 3;
/// What polls are called in the metrics of the outbound room.
const PURPOSE: &str = "poll";

/// Polls over the network.
#[derive(Clone)]
pub struct WebObserver {
    web: Web,
    clock: Arc<dyn Clock>,
}

impl WebObserver {
    /// Polls by these connections.
    #[must_use]
    pub fn new(web: Web, clock: Arc<dyn Clock>) -> Self {
        Self { web, clock }
    }

    /// Asks once.
    pub async fn ask(&self, endpoint: &Endpoint) -> Observation {
        let began = self.clock.moment();
        let answer = match endpoint.request(prepare) {
            Ok(request) => self.fetch(request).await,
            Err(failure) => Err(failure.clone()),
        };
        Observation { latency: self.clock.moment().since(began), answer }
    }

    async fn fetch(&self, request: &WebRequest) -> Result<Bytes, PollFailure> {
        let fetched = self.web.fetch(request).await;
        fetched.map_err(|error| failure_of(&error)).and_then(judge_status)
    }
}

impl Observe for WebObserver {
    fn observe<'a>(&'a self, endpoint: &'a Arc<Endpoint>) -> Observing<'a> {
        Box::pin(self.ask(endpoint))
    }
}

impl Fetch for WebObserver {
    fn judge<'a>(&'a self, url: &'a str) -> Answering<'a, Result<(), PollFailure>> {
        Box::pin(async move {
            let endpoint = endpoint_of(url)?;
            let request = endpoint.request(prepare).map_err(Clone::clone)?;
            match self.web.check(request).await.map_err(|error| failure_of(&error)) {
                // A name may come into being later: only an address that is refused is told now.
                Err(failure) if failure.kind == FailureKind::BlockedAddress => Err(failure),
                _ => Ok(()),
            }
        })
    }

    fn fetch<'a>(&'a self, url: &'a str) -> Answering<'a, Result<Vec<u8>, PollFailure>> {
        Box::pin(async move {
            let answer = self.ask(&endpoint_of(url)?).await.answer;
            answer.map(|body| body.to_vec())
        })
    }
}

impl std::fmt::Debug for WebObserver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("WebObserver")
    }
}

/// What an error of the outbound room means for a poll.
#[must_use]
pub fn failure_of(error: &FetchError) -> PollFailure {
    let kind = match error.kind() {
        FetchErrorKind::Dns => FailureKind::Dns,
        FetchErrorKind::ConnectRefused => FailureKind::ConnectRefused,
        FetchErrorKind::ConnectTimeout => FailureKind::ConnectTimeout,
        FetchErrorKind::Tls => FailureKind::Tls,
        FetchErrorKind::Timeout => FailureKind::Timeout,
        FetchErrorKind::TooLarge => FailureKind::TooLarge,
        FetchErrorKind::RedirectBlocked => FailureKind::RedirectBlocked,
        FetchErrorKind::BlockedAddress => FailureKind::BlockedAddress,
        FetchErrorKind::BadBody => FailureKind::BadBody,
    };
    PollFailure { kind, message: error.message().to_owned() }
}

/// The endpoint at an address that somebody tries out.
fn endpoint_of(url: &str) -> Result<Endpoint, PollFailure> {
    let address = Address::parse(url).map_err(|error| {
        let message = format!("the address can't be called: {error}");
        PollFailure { kind: FailureKind::BlockedAddress, message }
    })?;
    Ok(Endpoint::new(address.host, address.url, Vec::new(), DEFAULT_TIMEOUT))
}

/// Makes everything of a request that is the same each time.
fn prepare(endpoint: &Endpoint) -> Result<WebRequest, PollFailure> {
    let unusable = |message: String| PollFailure { kind: FailureKind::BlockedAddress, message };
    let url = Url::parse(&endpoint.url)
        .map_err(|error| unusable(format!("the health endpoint can't be called: {error}")))?;
    let mut request = WebRequest::get(PURPOSE, &url)
        .timeout(endpoint.timeout)
        .max_body(MAX_ANSWER_BYTES)
        .max_redirects(MAX_REDIRECTS);
    for (name, value) in &endpoint.headers {
        request = request.header(name.as_str(), value.clone());
    }
    request.build().map_err(|error| unusable(format!("the request can't be made: {error}")))
}

fn judge_status(answer: WebAnswer) -> Result<Bytes, PollFailure> {
    if answer.is_success() {
        return Ok(answer.body);
    }
    Err(PollFailure::of_status(answer.status))
}
