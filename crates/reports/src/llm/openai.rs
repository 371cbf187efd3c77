//! A model behind the OpenAI Responses API, at OpenAI or on any server that speaks it.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mainstay_base::{Clock, Moment, Secret};
use mainstay_breaker::{Breaker, ByError, CallError, Detector, HalfOpenPolicy, State};
use mainstay_outbound::pace::BreakerClock;
use mainstay_outbound::web::RequestError;
use mainstay_outbound::{Policy, Web, WebError, WebOptions, WebRequest};
use url::Url;

use super::error::LlmError;
use super::measure;
use super::question::{self, Format};
use super::reply::{self, MAX_ANSWER, Reply};
use super::{Llm, LlmAnswer, LlmRequest};

/// Where the API is, unless the operator says otherwise.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// Which model writes, unless the operator says otherwise.
pub const MODEL: &str = "gpt-5-mini";

/// How long one call may take, unless the operator says otherwise.
pub const TIMEOUT: Duration = Duration::from_mins(3);

/// How many calls in a row may fail before the provider is left alone.
pub const FAILURES_TO_OPEN: u32 = 5;

/// How long a provider that fails is left alone.
pub const OPEN_FOR: Duration = Duration::from_mins(1);

/// How much longer than a call may take a probe is waited for: a model is slow even when it is well, and a
/// probe that is lost before it answers never ends the time that the provider is left alone.
const PROBE_MARGIN: Duration = Duration::from_secs(30);

/// How soon, and how late, whoever meets a probe that is under way asks again.
const PROBE_WAITS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// How long a provider is not asked again for an answer by schema that it refused.
pub const FORMAT_REFUSED_FOR: Duration = Duration::from_hours(1);

/// Where the model is, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAiSettings {
    /// The address that `/responses` is below.
    pub base_url: Url,
    /// Which model writes.
    pub model: String,
    /// The key; servers of one's own may need none.
    pub api_key: Option<Secret<String>>,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long a provider that fails is left alone.
    pub open_for: Duration,
    /// Authorities to trust beside the system's, in PEM form.
    pub ca_file: Option<PathBuf>,
}

/// Asks a model. What it learns of its provider lasts as long as it.
pub struct OpenAi {
    settings: OpenAiSettings,
    address: Url,
    web: Web,
    breaker: Breaker<ByError<LlmError>>,
    clock: Arc<dyn Clock>,
    /// Since when the provider refuses to answer by a schema.
    format_refused: Mutex<Option<Moment>>,
}

/// Why no model can be asked.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// The address or the key can't be sent.
    #[error("the language model can't be asked: {0}; check LLM_BASE_URL and LLM_API_KEY")]
    Request(#[from] RequestError),
    /// The client can't be prepared.
    #[error("the language model can't be asked: {0}")]
    Client(#[from] WebError),
    /// The guard can't be prepared.
    #[error("the pace of the language model can't be kept: {0}")]
    Pace(#[from] mainstay_breaker::ConfigError),
}

impl OpenAiSettings {
    /// The model at `base_url`, at the usual pace.
    #[must_use]
    pub fn new(base_url: Url, model: &str, api_key: Option<Secret<String>>) -> Self {
        let model = model.to_owned();
        Self { base_url, model, api_key, timeout: TIMEOUT, open_for: OPEN_FOR, ca_file: None }
    }
}

impl OpenAi {
    /// Prepares to ask. Call it inside of the runtime. Whether the provider is there shows with the
    /// first question.
    ///
    /// # Errors
    /// [`SetUpError`] names what can't be used.
    pub fn new(settings: OpenAiSettings, clock: Arc<dyn Clock>) -> Result<Self, SetUpError> {
        // The operator named the provider, so it may be inside.
        let policy = Policy { private: true, ..Policy::default() };
        let mut options = WebOptions::new(policy, Arc::clone(&clock))?;
        options.ca_file.clone_from(&settings.ca_file);
        let breaker = Breaker::builder("language model")
            .detector(Detector::consecutive(FAILURES_TO_OPEN))
            .open_for(settings.open_for)
            .half_open(HalfOpenPolicy::all(1))
            .half_open_for(probe_time(&settings))
            .clock(BreakerClock(Arc::clone(&clock)))
            .classify_errors(LlmError::verdict)
            .build()?;
        let address = responses(&settings.base_url);
        let web = Web::new(&options)?;
        let format_refused = Mutex::new(None);
        let this = Self { settings, address, web, breaker, clock, format_refused };
        this.request(Vec::new(), this.settings.timeout)?;
        Ok(this)
    }

    async fn guarded(&self, request: &LlmRequest) -> Result<LlmAnswer, LlmError> {
        let started = self.clock.moment();
        let called = self.breaker.call(self.ask(request, started)).await;
        let answered = called.map_err(|error| match error {
            CallError::Inner(error) => error,
            CallError::Open { state: State::HalfOpen, retry_after, .. } => {
                LlmError::Open { wait: wait_for_probe(probe_time(&self.settings), retry_after) }
            }
            CallError::Open { retry_after, .. } => {
                LlmError::Open { wait: retry_after.unwrap_or(self.settings.open_for) }
            }
            _ => LlmError::Timeout { limit: self.settings.timeout },
        });
        let took = self.clock.moment().since(started);
        measure::ended(&answered, took);
        tell(&answered, took);
        answered
    }

    /// By the schema, and where that is refused in any JSON: both in the time of one call.
    async fn ask(&self, request: &LlmRequest, started: Moment) -> Result<LlmAnswer, LlmError> {
        let format = self.format();
        match self.ask_in(request, format, started).await? {
            Reply::Ended(ended) => ended,
            Reply::FormatRefused => {
                self.remember_refusal();
                match self.ask_in(request, Format::AnyJson, started).await? {
                    Reply::Ended(ended) => ended,
                    Reply::FormatRefused => Err(LlmError::Provider4xx { status: 400, code: None }),
                }
            }
        }
    }

    async fn ask_in(
        &self,
        request: &LlmRequest,
        format: Format,
        started: Moment,
    ) -> Result<Reply, LlmError> {
        let limit = self.settings.timeout;
        let left = limit.saturating_sub(self.clock.moment().since(started));
        let body = question::body(request, &self.settings.model, format);
        let question = self.request(body, left).map_err(|error| match error {
            RequestError::NoTime => LlmError::Timeout { limit },
            error => LlmError::Failed(format!("the language model can't be asked: {error}")),
        })?;
        let fetched = self.web.fetch(&question).await;
        let answer = fetched.map_err(|error| {
            if error.unnamed() != error.message() {
                tracing::warn!(event = "llm_unreachable", %error, "the language model can't be asked");
            }
            reply::failed(&error, limit)
        })?;
        Ok(reply::read(&answer, &self.settings.model, format))
    }

    fn request(&self, body: Vec<u8>, timeout: Duration) -> Result<WebRequest, RequestError> {
        let json = Secret::new("application/json".to_owned());
        let mut request = WebRequest::post("llm", &self.address, body)
            .header("Content-Type", json)
            .timeout(timeout)
            .max_body(MAX_ANSWER)
            .long_failures_are_answers();
        if let Some(key) = &self.settings.api_key {
            let bearer = Secret::new(format!("Bearer {}", key.expose()));
            request = request.header("Authorization", bearer);
        }
        request.build()
    }

    fn format(&self) -> Format {
        let since = *self.format_refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_refused = |since| self.clock.moment().since(since) < FORMAT_REFUSED_FOR;
        if since.is_some_and(is_refused) { Format::AnyJson } else { Format::Schema }
    }

    fn remember_refusal(&self) {
        let mut since = self.format_refused.lock().unwrap_or_else(PoisonError::into_inner);
        *since = Some(self.clock.moment());
        drop(since);
        measure::format_refused();
        tracing::info!(
            event = "llm_format_refused",
            "the provider does not answer by a schema: any JSON is asked for, and checked"
        );
    }
}

impl Llm for OpenAi {
    fn answer<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmAnswer, LlmError>> {
        Box::pin(self.guarded(request))
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("OpenAi");
        shown.field("model", &self.settings.model).finish_non_exhaustive()
    }
}

/// How long a probe is waited for.
const fn probe_time(settings: &OpenAiSettings) -> Duration {
    settings.timeout.saturating_add(PROBE_MARGIN)
}

/// How long to wait for a probe that is lost after `retry_after`: as long as it has been under way, so that
/// a quick answer is not missed and a slow one not asked for over and over.
fn wait_for_probe(probe_time: Duration, retry_after: Option<Duration>) -> Duration {
    let (soonest, latest) = PROBE_WAITS;
    probe_time.saturating_sub(retry_after.unwrap_or_default()).clamp(soonest, latest)
}

/// `…/responses` below the base, whether or not that ends with a slash.
fn responses(base: &Url) -> Url {
    let mut url = base.clone();
    let path = format!("{}/responses", base.path().trim_end_matches('/'));
    url.set_path(&path);
    url
}

/// Outcome and time, and nothing of what was asked or answered.
fn tell(answered: &Result<LlmAnswer, LlmError>, took: Duration) {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match answered {
        Ok(answer) => {
            tracing::info!(event = "llm_answered", model = %answer.model, millis, "the model has answered; whether that is a report is looked at next");
        }
        // That happens to every job, over and over.
        Err(LlmError::Open { .. }) => {}
        Err(error) => {
            tracing::warn!(event = "llm_failed", code = error.code(), millis, %error, "no report");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_waited_for_as_long_as_it_has_been_under_way() {
        let seconds = Duration::from_secs;
        for (left, wait) in [(210, 2), (209, 2), (200, 10), (150, 30), (1, 30)] {
            assert_eq!(wait_for_probe(seconds(210), Some(seconds(left))), seconds(wait), "{left}");
        }
    }
}
