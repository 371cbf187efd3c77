//! Carries requests out: by `outbound`, and past a breaker for each host.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;
use mainstay_breaker::{
    Breaker, Breakers, ByError, CallError, ConfigError, Detector, HalfOpenPolicy, Verdict,
};
use mainstay_outbound::pace::BreakerClock;
use mainstay_outbound::{FetchError, FetchErrorKind, Web, WebRequest};

use crate::document::{Document, NoJson};

/// How often a host may fail in a row before it is left alone.
const FAILURES_TO_OPEN: u32 = 5;
/// How long it is left alone.
const OPEN_FOR: Duration = Duration::from_secs(10);
/// Who gives a host less time than this and gets no answer has learnt nothing about the host: others go on
/// asking it.
const FAIR_TIME: Duration = Duration::from_secs(1);
/// A probe that has not ended by then is lost.
const PROBE_LOST_AFTER: Duration = Duration::from_secs(120);
/// The most hosts whose breakers are kept.
const MAX_HOSTS: usize = 1_000;

/// The breaker of a host.
pub(crate) type HostBreaker = Breaker<ByError<SendError>>;

/// Carries requests out. Its clones share connections and breakers: one for a whole process.
#[derive(Clone)]
pub struct Courier {
    web: Web,
    breakers: Breakers<String, ByError<SendError>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: bytes::Bytes,
    /// The body, where it is JSON.
    pub(crate) json: Result<Document, NoJson>,
    pub(crate) latency: Duration,
    pub(crate) retry_after: Option<Duration>,
}

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    /// No answer, or none that can be read.
    #[error("{0}")]
    Fetch(FetchError),
    /// No answer in a time that is too short for it to be the host's fault.
    #[error("{0}")]
    Hasty(FetchError),
    /// No answer, as whoever asks has said that it may be for a while.
    #[error("{0}")]
    Expected(FetchError),
    /// The host fails too often.
    #[error(
        "{host} failed {FAILURES_TO_OPEN} times in a row, and is left alone for a while: try again later"
    )]
    Open {
        /// Which.
        host: String,
    },
    /// There are too many hosts.
    #[error("more than {MAX_HOSTS} hosts are asked at the same time; try again later")]
    TooManyHosts,
}

impl Courier {
    /// Carries out by `web`, which judges every address.
    ///
    /// # Errors
    /// When the breakers can't be made.
    pub fn new(web: Web, clock: Arc<dyn Clock>) -> Result<Self, ConfigError> {
        let template = Breaker::builder("journey")
            .detector(Detector::consecutive(FAILURES_TO_OPEN))
            .open_for(OPEN_FOR)
            .half_open(HalfOpenPolicy::all(1))
            .half_open_for(PROBE_LOST_AFTER)
            .clock(BreakerClock(clock))
            .classify_errors(SendError::verdict);
        let breakers =
            Breakers::builder(template).capacity(MAX_HOSTS).named(Clone::clone).build()?;
        Ok(Self { web, breakers })
    }

    /// Asks once, unless the breaker of the host says no.
    pub(crate) async fn send(&self, request: &WebRequest) -> Result<Answer, SendError> {
        let breaker = self.breaker(request)?;
        breaker.call(self.fetch(request)).await.map_err(|error| match error {
            CallError::Inner(error) => error,
            _ => SendError::Open { host: request.authority() },
        })
    }

    /// Asks once. Whoever calls it goes by the breaker.
    pub(crate) async fn fetch(&self, request: &WebRequest) -> Result<Answer, SendError> {
        let fetched = self.web.fetch_with_headers(request).await;
        let (answer, headers) =
            fetched.map_err(|error| SendError::within(request.timeout(), error))?;
        let json = Document::read(&answer.body);
        let (status, latency, retry_after) = (answer.status, answer.latency, answer.retry_after());
        Ok(Answer { status, headers, body: answer.body, json, latency, retry_after })
    }

    /// The breaker of the host that a request goes to.
    pub(crate) fn breaker(&self, request: &WebRequest) -> Result<HostBreaker, SendError> {
        self.breakers.get(request.authority().as_str()).map_err(|_| SendError::TooManyHosts)
    }
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as it is shown: the bytes of a secret stay the letters that it is known by.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The body as whoever sent it means it, whatever it is written in: to look for a text in it, and not to be shown.
    pub(crate) fn meant(&self) -> Cow<'_, str> {
        crate::charset::read(&self.body, self.header("content-type"))
    }
}

impl SendError {
    /// What failed in a request that might take so long.
    fn within(time: Duration, error: FetchError) -> Self {
        if is_late(&error) && time < FAIR_TIME { Self::Hasty(error) } else { Self::Fetch(error) }
    }

    /// The same, where it was to be expected: the host is no worse than the journey says.
    pub(crate) fn expected(self) -> Self {
        match self {
            Self::Fetch(error) => Self::Expected(error),
            other => other,
        }
    }

    /// The word for it, by which rules speak of it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Fetch(error) | Self::Hasty(error) | Self::Expected(error) => error.kind().name(),
            Self::Open { .. } | Self::TooManyHosts => "breaker_open",
        }
    }

    /// Whether it took longer than it might.
    pub(crate) fn is_late(&self) -> bool {
        match self {
            Self::Fetch(error) | Self::Hasty(error) | Self::Expected(error) => is_late(error),
            Self::Open { .. } | Self::TooManyHosts => false,
        }
    }

    /// What a host is, or what a journey asks for, says nothing about how well the host is.
    fn verdict(&self) -> Verdict {
        let Self::Fetch(error) = self else { return Verdict::Ignore };
        match error.kind() {
            FetchErrorKind::Dns
            | FetchErrorKind::ConnectRefused
            | FetchErrorKind::ConnectTimeout
            | FetchErrorKind::Tls
            | FetchErrorKind::Timeout => Verdict::Failure,
            FetchErrorKind::TooLarge
            | FetchErrorKind::RedirectBlocked
            | FetchErrorKind::BlockedAddress
            | FetchErrorKind::BadBody => Verdict::Ignore,
        }
    }
}

fn is_late(error: &FetchError) -> bool {
    matches!(error.kind(), FetchErrorKind::Timeout | FetchErrorKind::ConnectTimeout)
}

impl fmt::Debug for Courier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Courier").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_out_counts_against_a_host_that_had_time() {
        let verdict = |time: Duration, kind| {
            SendError::within(time, FetchError::new(kind, "it hung")).verdict()
        };
        let hasty = FAIR_TIME.saturating_sub(Duration::from_millis(1));
        for kind in [FetchErrorKind::Timeout, FetchErrorKind::ConnectTimeout] {
            assert_eq!(verdict(hasty, kind), Verdict::Ignore);
            assert_eq!(verdict(FAIR_TIME, kind), Verdict::Failure);
        }
        assert_eq!(verdict(hasty, FetchErrorKind::ConnectRefused), Verdict::Failure);
        let refused = FetchError::new(FetchErrorKind::ConnectRefused, "it is closed");
        assert_eq!(SendError::Fetch(refused).expected().verdict(), Verdict::Ignore);
    }
}
