//! Calls by HTTP against servers on loopback that are written by hand, byte by byte: [`server`] is
//! where they come from.
#![cfg(test)]

mod bounds;
mod certificates;
mod dropping;
mod garbled;
mod guarded;
mod keeping;
mod plain;
mod pooling;
mod posting;
mod reaching;
mod redirects;
mod resolver;
mod server;
mod telling;

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::SystemClock;
use mainstay_outbound::web::WebRequestBuilder;
use mainstay_outbound::{FetchError, Policy, Web, WebAnswer, WebOptions, WebRequest};
use url::Url;

use crate::resolver::Scripted;

/// What a test may wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The time of a call that is to run out of it.
pub(crate) const SHORT: Duration = Duration::from_millis(150);

/// Everything but what is never called may be called, and every name is this host.
pub(crate) fn options() -> WebOptions {
    let policy = Policy { private: true, ..Policy::default() };
    let clock = Arc::new(SystemClock::new());
    WebOptions::with_resolver(policy, clock, Arc::new(Scripted::always(&["127.0.0.1"])))
}

pub(crate) fn web() -> Web {
    Web::new(&options()).unwrap()
}

pub(crate) fn get(url: &str) -> WebRequestBuilder {
    WebRequest::get("test", &Url::parse(url).unwrap())
}

/// Calls, with more patience than any call should need.
pub(crate) async fn fetch(web: &Web, builder: WebRequestBuilder) -> Result<WebAnswer, FetchError> {
    let request = builder.build().unwrap();
    tokio::time::timeout(PATIENCE, web.fetch(&request)).await.expect("a call ends")
}

/// The word for why a call failed, after a look at the message.
pub(crate) fn failed(fetched: Result<WebAnswer, FetchError>) -> (&'static str, String) {
    let error = fetched.expect_err("the call fails");
    let message = error.message().to_owned();
    assert!(message.len() > 20 && message.len() <= 300, "{message}");
    assert!(!message.contains("hunter2"), "{message}");
    (error.kind().name(), message)
}
