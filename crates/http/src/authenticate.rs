//! Finds out who is calling, and lets a request through to its route if they may.
//!
//! What is public passes without a look and without an allocation. For the rest the caller is looked
//! up once and handed to the route.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use mainstay_accounts::{Accounts, AccountsError, Caller, Limit, Verdict};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

use crate::access::{Door, Doors, Needs};
use crate::code::Code;
use crate::cookie::{CookieName, SessionCookie};
use crate::credential::{self, Credential};
use crate::error::{Error, retry_after_value};

/// What the layer asks.
pub(crate) struct Guard {
    pub(crate) accounts: Accounts,
    pub(crate) doors: Doors,
    pub(crate) cookie: CookieName,
}

/// Puts [`Authenticate`] around each route.
#[derive(Clone)]
pub(crate) struct AuthenticateLayer(pub(crate) Arc<Guard>);

impl<S> Layer<S> for AuthenticateLayer {
    type Service = Authenticate<S>;

    fn layer(&self, inner: S) -> Authenticate<S> {
        Authenticate { inner, guard: Arc::clone(&self.0) }
    }
}

/// A route behind its door.
#[derive(Clone)]
pub(crate) struct Authenticate<S> {
    inner: S,
    guard: Arc<Guard>,
}

impl<S> Service<Request> for Authenticate<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Answer<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match self.guard.doors.find(&request) {
            Door::Open => Answer::Open { route: self.inner.call(request) },
            Door::Closed(refusal) => Answer::Closed { refusal: Some(refusal) },
            Door::Guarded(needs) => {
                let rest = self.inner.clone();
                let ready = std::mem::replace(&mut self.inner, rest);
                let asking = pass(Arc::clone(&self.guard), needs, ready, request);
                Answer::Guarded { asking: Box::pin(asking) }
            }
        }
    }
}

pin_project! {
    /// The answer of a route behind its door.
    #[project = AnswerState]
    pub(crate) enum Answer<F> {
        Open { #[pin] route: F },
        Guarded { asking: Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>> },
        Closed { refusal: Option<Response> },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Answer<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            AnswerState::Open { route } => route.poll(context),
            AnswerState::Guarded { asking } => asking.as_mut().poll(context),
            // Polled after its end, which no caller does, it waits for ever.
            AnswerState::Closed { refusal } => {
                refusal.take().map_or(Poll::Pending, |refusal| Poll::Ready(Ok(refusal)))
            }
        }
    }
}

async fn pass<S>(
    guard: Arc<Guard>,
    needs: Needs,
    mut route: S,
    request: Request,
) -> Result<Response, Infallible>
where
    S: Service<Request, Response = Response, Error = Infallible>,
{
    let (mut parts, body) = request.into_parts();
    let verdict = match guard.admit(&needs, &mut parts).await {
        Ok(verdict) => verdict,
        Err(refusal) => return Ok(refusal),
    };
    let mut response = route.call(Request::from_parts(parts, body)).await?;
    if let Some(verdict) = verdict {
        tell(&verdict, response.headers_mut());
    }
    Ok(response)
}

impl Guard {
    /// Leaves the caller in the request's extensions, or refuses it.
    async fn admit(&self, needs: &Needs, parts: &mut Parts) -> Result<Option<Verdict>, Response> {
        let caller = self.caller(needs, &parts.headers).await?;
        needs.check(&caller).map_err(Error::into_response)?;
        let verdict = match needs.limit {
            None => None,
            Some(limit) => {
                let subject = caller.user.id.to_string();
                let taken = self.accounts.limits().take(&subject, limit).await;
                let verdict = taken.map_err(failed)?;
                if !verdict.admitted {
                    return Err(too_many(limit, &verdict));
                }
                Some(verdict)
            }
        };
        parts.extensions.insert(caller);
        Ok(verdict)
    }

    async fn caller(&self, needs: &Needs, headers: &HeaderMap) -> Result<Caller, Response> {
        let found = match credential::find(headers, &self.cookie) {
            Credential::Bearer(token) => {
                let found = match token {
                    Some(token) => self.accounts.by_api_token(token).await.map_err(failed)?,
                    None => None,
                };
                let challenge = [(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))];
                return found.ok_or_else(|| (challenge, needs.unknown_caller()).into_response());
            }
            Credential::Cookie(SessionCookie::One(text)) => {
                self.accounts.by_session(text).await.map_err(failed)?
            }
            Credential::Cookie(_) | Credential::None => None,
        };
        found.ok_or_else(|| needs.unknown_caller().into_response())
    }
}

fn failed(error: AccountsError) -> Response {
    Error::from(error).into_response()
}

fn too_many(limit: &Limit, verdict: &Verdict) -> Response {
    let (count, seconds) = (limit.count, limit.window.as_secs());
    let detail =
        format!("You may do this {count} times in {seconds} seconds. Retry-After says when next.");
    let error = Error::new(Code::RateLimited, detail).retry_after(verdict.resets_in);
    let mut response = error.into_response();
    tell(verdict, response.headers_mut());
    response
}

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const RATE_REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RATE_RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Says how much of the limit is left.
fn tell(verdict: &Verdict, headers: &mut HeaderMap) {
    headers.insert(RATE_LIMIT, verdict.limit.into());
    headers.insert(RATE_REMAINING, verdict.remaining.into());
    headers.insert(RATE_RESET, retry_after_value(verdict.resets_in));
}
