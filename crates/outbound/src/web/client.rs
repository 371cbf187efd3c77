//! The whole way of a call, in its time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, StatusCode};
use mainstay_base::Clock;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::answer::WebAnswer;
use super::body;
use super::conversation::{Conversation, Trouble};
use super::dial::Dialer;
use super::error::{FetchError, FetchErrorKind, WebError};
use super::measure::Measures;
use super::options::WebOptions;
use super::pool::{Link, Pool};
use super::progress::{Progress, Step};
use super::redirect::{self, Stop};
use super::request::{Prepared, WebRequest};
use super::retry_after;
use super::target::Target;

/// How often the pool is cleared out.
const SWEEP_EVERY: Duration = Duration::from_secs(10);

/// What servers call a request of ours, for whoever asks them about it.
const REQUEST_IDS: [&str; 2] = ["fly-request-id", "x-request-id"];

/// Calls others by HTTP. Its clones share their connections; with the last of them all end.
#[derive(Clone)]
pub struct Web(Arc<Inner>);

struct Inner {
    dialer: Dialer,
    pool: Arc<Pool>,
    measures: Measures,
    clock: Arc<dyn Clock>,
    sweeper: AbortHandle,
}

/// An answer, redirects included.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    is_redirect: bool,
}

impl Web {
    /// Prepares to call. Call it inside of the runtime, after the recorder of metrics is installed.
    ///
    /// # Errors
    /// [`WebError`] when the certificates can't be read or a bound makes no sense.
    pub fn new(options: &WebOptions) -> Result<Self, WebError> {
        options.check()?;
        let runtime = Handle::try_current().map_err(|_| WebError::NoRuntime)?;
        let pool = Arc::new(Pool::new(options));
        let dialer = Dialer::new(options)?;
        let clock = Arc::clone(&options.clock);
        let sweeper = runtime.spawn(sweep(Arc::downgrade(&pool), Arc::clone(&clock)));
        let (measures, sweeper) = (Measures::new(), sweeper.abort_handle());
        Ok(Self(Arc::new(Inner { dialer, pool, measures, clock, sweeper })))
    }

    /// Resolves and judges where a request goes, and calls nobody: for telling at once whoever names
    /// an address that would be refused. Each call is judged anew all the same.
    ///
    /// # Errors
    /// [`FetchError`] of the kind `blocked_address`, or `dns` when the name does not resolve now.
    pub async fn check(&self, request: &WebRequest) -> Result<(), FetchError> {
        self.0.dialer.judged(&request.prepared().target).await.map(drop)
    }

    /// Asks once, follows redirects and reads the answer to its end, whatever its status. Dropping
    /// the future ends it all.
    ///
    /// # Errors
    /// [`FetchError`] with its kind and a sentence that a person can act on.
    pub async fn fetch(&self, request: &WebRequest) -> Result<WebAnswer, FetchError> {
        let (fetched, latency) = self.exchange(request.prepared()).await;
        fetched.map(|page| self.answer_of(page, latency))
    }

    /// As [`Web::fetch`], with all headers of the answer whose values are plain text.
    ///
    /// # Errors
    /// As [`Web::fetch`].
    pub async fn fetch_with_headers(
        &self,
        request: &WebRequest,
    ) -> Result<(WebAnswer, Vec<(String, String)>), FetchError> {
        let (fetched, latency) = self.exchange(request.prepared()).await;
        fetched.map(|page| {
            let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
            let headers = page.headers.iter();
            let headers = headers
                .filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)))
                .collect();
            (self.answer_of(page, latency), headers)
        })
    }

    /// As [`Web::fetch`], with all headers of the answer, and the time that it took.
    pub(crate) async fn exchange(
        &self,
        prepared: &Prepared,
    ) -> (Result<Page, FetchError>, Duration) {
        let inner = &*self.0;
        let started = inner.clock.moment();
        let progress = Progress::new();
        let fetched = timeout(prepared.timeout, inner.follow(prepared, &progress)).await;
        let fetched = fetched.unwrap_or_else(|_| Err(progress.ran_out(prepared.timeout)));
        let latency = inner.clock.moment().since(started);
        inner.measures.ended(prepared.purpose, &fetched, latency);
        (fetched, latency)
    }

    fn answer_of(&self, mut page: Page, latency: Duration) -> WebAnswer {
        let retry_after = retry_after::read(&page.headers, self.0.clock.now());
        let content_type = page.headers.remove(CONTENT_TYPE);
        let request_id = REQUEST_IDS.iter().find_map(|name| page.headers.remove(*name));
        let answer = WebAnswer::new(page.status, page.body, latency);
        answer.with_headers(content_type, retry_after, request_id)
    }
}

impl Inner {
    async fn follow(&self, prepared: &Prepared, progress: &Progress) -> Result<Page, FetchError> {
        let page = self.ask(Asked::first(prepared), prepared, progress).await?;
        if !page.is_redirect || prepared.takes_redirects {
            return Ok(page);
        }
        let mut stop = Stop::after(&prepared.target, true, &page.headers, prepared);
        for _ in 0..prepared.max_redirects {
            let here = stop?;
            let asked = self.ask(Asked::at(&here, prepared), prepared, progress).await;
            let page = asked.map_err(FetchError::behind_redirect)?;
            if !page.is_redirect {
                return Ok(page);
            }
            stop = Stop::after(&here.target, here.is_home(), &page.headers, prepared);
        }
        stop.and_then(|_| Err(redirect::too_many(prepared.max_redirects)))
    }

    /// Asks at one stop, on a connection that was kept if there is one.
    async fn ask(
        &self,
        asked: Asked<'_>,
        prepared: &Prepared,
        progress: &Progress,
    ) -> Result<Page, FetchError> {
        let target = asked.target;
        // A kept connection may end unheard, and then nobody knows whether a change was made.
        let kept = if prepared.is_said_once {
            None
        } else {
            self.pool.take(&target.origin, self.clock.moment())
        };
        if let Some(link) = kept {
            // Judged again: what may be asked for at an address depends on the path too.
            self.dialer.judge(target, link.card.peer)?;
            progress.reach(Step::Answer);
            match self.converse(link, asked, prepared).await {
                // It was ended by the other side while it rested.
                Err(Trouble::Unheard(_)) => {}
                other => return other.map_err(Trouble::into_error),
            }
        }
        let link = self.dialer.dial(target, &self.pool, &self.measures, progress).await?;
        progress.reach(Step::Answer);
        self.converse(link, asked, prepared).await.map_err(Trouble::into_error)
    }

    async fn converse(
        &self,
        link: Link,
        asked: Asked<'_>,
        prepared: &Prepared,
    ) -> Result<Page, Trouble> {
        let Link { stream, card } = link;
        let mut conversation = Conversation::begin(stream).await?;
        let answer = match conversation.ask(asked.question(&prepared.method)).await {
            Ok(answer) => answer,
            Err(error) => return Err(conversation.trouble(&error)),
        };
        let (head, incoming) = answer.into_parts();
        let is_redirect = redirect::is_redirect(head.status, &head.headers);
        let mut keep = true;
        let body = if is_redirect {
            keep = body::skip(&mut conversation, incoming).await;
            Bytes::new()
        } else {
            let whole = body::whole(&mut conversation, &head.headers, incoming, prepared.max_body);
            match whole.await {
                Err(error) if is_spared(&error, head.status, prepared) => {
                    keep = false;
                    Bytes::new()
                }
                whole => whole?,
            }
        };
        let ended = if keep { conversation.end().await } else { None };
        if let Some(stream) = ended {
            self.pool.keep(&asked.target.origin, Link { stream, card }, self.clock.moment());
        }
        Ok(Page { status: head.status.as_u16(), headers: head.headers, body, is_redirect })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.sweeper.abort();
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Web").finish_non_exhaustive()
    }
}

/// Whether the status says enough without a body that is too long.
fn is_spared(error: &FetchError, status: StatusCode, prepared: &Prepared) -> bool {
    let is_failure = status.is_client_error() || status.is_server_error();
    prepared.takes_long_failures && is_failure && error.kind() == FetchErrorKind::TooLarge
}

/// What is asked at one stop.
#[derive(Clone, Copy)]
struct Asked<'a> {
    target: &'a Target,
    headers: &'a HeaderMap,
    /// Nothing where the way led to a stranger: a secret may stand in it.
    body: Option<&'a Bytes>,
}

impl<'a> Asked<'a> {
    fn first(prepared: &'a Prepared) -> Self {
        let Prepared { target, headers, body, .. } = prepared;
        Self { target, headers, body: Some(body) }
    }

    fn at(stop: &'a Stop, prepared: &'a Prepared) -> Self {
        let body = stop.is_home().then_some(&prepared.body);
        Self { target: &stop.target, headers: &stop.headers, body }
    }

    fn question(self, method: &Method) -> Request<Full<Bytes>> {
        let mut question = Request::new(Full::new(self.body.cloned().unwrap_or_default()));
        *question.method_mut() = method.clone();
        *question.uri_mut() = self.target.uri.clone();
        *question.headers_mut() = self.headers.clone();
        question
    }
}

async fn sweep(pool: std::sync::Weak<Pool>, clock: Arc<dyn Clock>) {
    loop {
        sleep(SWEEP_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        pool.sweep(clock.moment());
    }
}
