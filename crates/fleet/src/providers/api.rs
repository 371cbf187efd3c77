//! One question to the API of a provider: guarded, bounded, in its time, through the provider's breaker,
//! and counted.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mainstay_base::{Clock, Secret};
use mainstay_breaker::{
    Breaker, ByError, CallError, ConfigError, Detector, HalfOpenPolicy, Verdict,
};
use mainstay_outbound::pace::BreakerClock;
use mainstay_outbound::web::RequestError;
use mainstay_outbound::{
    FetchError, FetchErrorKind, Policy, Web, WebAnswer, WebError, WebOptions, WebRequest,
};
use serde_json::Value;
use url::Url;

use super::error::{ProviderError, told};
use super::kind::ProviderKind;
use super::measure;

/// The longest answer: a list of some thousand machines.
pub const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// How long a call may take, unless the operator says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a question that changes nothing may take: a little less than a look at a worker waits for it, so
/// that a provider which says nothing is found out here, and counted.
const READ_TIMEOUT: Duration = Duration::from_secs(4);

/// How many calls in a row may fail before a provider is left alone.
pub const FAILURES_TO_OPEN: u32 = 5;

/// How long a provider that fails is left alone.
pub const OPEN_FOR: Duration = Duration::from_secs(30);

/// Where an API is, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiSettings {
    /// The address that everything is below.
    pub base_url: Url,
    /// What it knows us by.
    pub token: Secret<String>,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long it is left alone when it fails.
    pub open_for: Duration,
    /// Authorities to trust beside the system's, in PEM form.
    pub ca_file: Option<PathBuf>,
}

/// Why a provider can't be asked.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The address or the token can't be sent.
    #[error("the provider {provider} can't be asked: {source}; check its address and its token")]
    Request {
        /// Which one.
        provider: ProviderKind,
        /// Why.
        source: RequestError,
    },
    /// The client can't be prepared.
    #[error("providers can't be asked: {0}")]
    Web(#[from] WebError),
    /// The breaker can't be made.
    #[error("providers can't be asked: {0}; report this as a bug")]
    Breaker(#[from] ConfigError),
    /// A name that can't stand in an address.
    #[error("{0}")]
    Setting(String),
}

/// The API of a provider.
pub(crate) struct Api {
    kind: ProviderKind,
    settings: ApiSettings,
    web: Web,
    breaker: Breaker<ByError<Failed>>,
    clock: Arc<dyn Clock>,
}

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// A word for the metrics and the log.
    pub(crate) action: &'static str,
    pub(crate) method: Method,
    /// The path, in its parts.
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<Value>,
    pub(crate) headers: Vec<(&'static str, Secret<String>)>,
    /// Beside what every call has.
    pub(crate) extra_time: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nobody heard it.
    Unheard(String),
    /// It may have been heard.
    Lost(String),
    /// The provider is left alone.
    LeftAlone(Duration),
}

/// What speaks against the provider.
#[derive(Debug)]
pub(crate) enum Failed {
    Trouble(Trouble),
    /// It answers that it fails.
    Answer(WebAnswer),
}

impl ApiSettings {
    /// The API at this address, with everything else by default.
    #[must_use]
    pub const fn new(base_url: Url, token: Secret<String>) -> Self {
        Self { base_url, token, timeout: TIMEOUT, open_for: OPEN_FOR, ca_file: None }
    }
}

impl Api {
    pub(crate) fn new(
        kind: ProviderKind,
        settings: ApiSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetUpError> {
        // The operator named the provider, so it may be inside.
        let policy = Policy { private: true, ..Policy::default() };
        let mut options = WebOptions::new(policy, Arc::clone(&clock))?;
        options.ca_file.clone_from(&settings.ca_file);
        let breaker = Breaker::builder(kind.name())
            .detector(Detector::consecutive(FAILURES_TO_OPEN))
            .open_for(settings.open_for)
            .half_open(HalfOpenPolicy::all(1))
            .clock(BreakerClock(Arc::clone(&clock)))
            .classify_errors(|_: &Failed| Verdict::Failure)
            .build()?;
        let web = Web::new(&options)?;
        let api = Self { kind, settings, web, breaker, clock };
        let probe = Question::get("set_up", Vec::new());
        api.request(&probe).map_err(|source| SetUpError::Request { provider: kind, source })?;
        Ok(api)
    }

    /// Asks once.
    pub(crate) async fn ask(&self, question: &Question) -> Result<WebAnswer, Trouble> {
        let started = self.clock.moment();
        let answered = match self.breaker.call(self.fetch(question)).await {
            Ok(answer) | Err(CallError::Inner(Failed::Answer(answer))) => Ok(answer),
            Err(CallError::Inner(Failed::Trouble(trouble))) => Err(trouble),
            Err(CallError::Open { retry_after, .. }) => {
                Err(Trouble::LeftAlone(retry_after.unwrap_or(self.settings.open_for)))
            }
            Err(_) => Err(Trouble::Lost("the call was given up".to_owned())),
        };
        let took = self.clock.moment().since(started);
        measure::called(self.kind, question.action, &answered, took);
        self.tell(question, &answered);
        answered
    }

    async fn fetch(&self, question: &Question) -> Result<WebAnswer, Failed> {
        let unsendable = |error: RequestError| Trouble::Unheard(error.to_string());
        let request = self.request(question).map_err(unsendable).map_err(Failed::Trouble)?;
        let answer = self.web.fetch(&request).await;
        let answer = answer.map_err(|error| Failed::Trouble(trouble(&error)))?;
        // Limits are a reason to leave it alone too, and a token that it does not take; a wait that runs out is
        // none.
        let waited = answer.status == 408 && question.action == "wait";
        let fails = matches!(answer.status, 401 | 403 | 408 | 429 | 500..=599) && !waited;
        if fails { Err(Failed::Answer(answer)) } else { Ok(answer) }
    }

    fn request(&self, question: &Question) -> Result<WebRequest, RequestError> {
        let mut url = self.settings.base_url.clone();
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.pop_if_empty().extend(&question.path);
        }
        if !question.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&question.query);
        }
        let (name, body) = (self.kind.name(), question.body.as_ref());
        let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let has_body = !body.is_empty();
        let mut request = match question.method {
            Method::Get => WebRequest::get(name, &url).max_redirects(0),
            Method::Post => WebRequest::post(name, &url, body),
            Method::Put => WebRequest::put(name, &url, body),
            Method::Delete => WebRequest::delete(name, &url),
        };
        let bearer = format!("Bearer {}", self.settings.token.expose());
        request = request
            .header("Authorization", Secret::new(bearer))
            .timeout(self.limit(question))
            .max_body(MAX_ANSWER);
        if has_body {
            let json = Secret::new("application/json".to_owned());
            request = request.header("Content-Type", json);
        }
        for (name, value) in &question.headers {
            request = request.header(*name, value.clone());
        }
        request.build()
    }

    fn limit(&self, question: &Question) -> Duration {
        let limit = match question.method {
            Method::Get => self.settings.timeout.min(READ_TIMEOUT),
            Method::Post | Method::Put | Method::Delete => self.settings.timeout,
        };
        limit.saturating_add(question.extra_time)
    }

    fn tell(&self, question: &Question, answered: &Result<WebAnswer, Trouble>) {
        let (provider, action) = (self.kind.name(), question.action);
        match answered {
            Ok(answer) if answer.is_success() => {
                tracing::debug!(
                    event = "provider_answered",
                    provider,
                    action,
                    status = answer.status,
                    request_id = answer.request_id()
                );
            }
            Ok(answer) => {
                let (status, request_id) = (answer.status, answer.request_id());
                tracing::info!(
                    event = "provider_refused",
                    provider,
                    action,
                    status,
                    request_id,
                    "the provider says no"
                );
            }
            // That happens to every call, over and over.
            Err(Trouble::LeftAlone(_)) => {}
            Err(trouble) => {
                tracing::warn!(event = "provider_failed", provider, action, ?trouble, "no answer");
            }
        }
    }
}

impl Question {
    pub(crate) fn get(action: &'static str, path: Vec<String>) -> Self {
        Self::new(action, Method::Get, path)
    }

    pub(crate) fn new(action: &'static str, method: Method, path: Vec<String>) -> Self {
        let (query, headers) = (Vec::new(), Vec::new());
        Self { action, method, path, query, body: None, headers, extra_time: Duration::ZERO }
    }

    pub(crate) fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

impl Trouble {
    /// What it means for a question that changes nothing, or that may be asked again as it is.
    pub(crate) fn harmless(self) -> ProviderError {
        match self {
            Self::Unheard(detail) | Self::Lost(detail) => ProviderError::Unreachable(detail),
            Self::LeftAlone(retry_after) => ProviderError::LeftAlone { retry_after },
        }
    }

    /// What it means for a question that may have had something done.
    pub(crate) fn harmful(self) -> ProviderError {
        match self {
            Self::Lost(detail) => ProviderError::Ambiguous(detail),
            other => other.harmless(),
        }
    }
}

impl std::fmt::Debug for Api {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Api").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The body of an answer as JSON.
pub(crate) fn json<T: serde::de::DeserializeOwned>(body: &Bytes) -> Result<T, ProviderError> {
    serde_json::from_slice(body).map_err(|_| {
        let text = "it answered with something else than was asked for";
        ProviderError::Unreachable(text.to_owned())
    })
}

fn trouble(error: &FetchError) -> Trouble {
    let detail = told(error.message());
    match error.kind() {
        FetchErrorKind::Dns
        | FetchErrorKind::ConnectRefused
        | FetchErrorKind::ConnectTimeout
        | FetchErrorKind::Tls
        | FetchErrorKind::BlockedAddress => Trouble::Unheard(detail),
        FetchErrorKind::Timeout
        | FetchErrorKind::TooLarge
        | FetchErrorKind::RedirectBlocked
        | FetchErrorKind::BadBody => Trouble::Lost(detail),
    }
}
