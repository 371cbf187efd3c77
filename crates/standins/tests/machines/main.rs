//! Whether the stand-ins for providers of machines behave as those do, asked as any client would.
#![cfg(test)]

mod fly;
mod sprites;

use std::sync::Arc;

use mainstay_base::{Secret, SystemClock};
use mainstay_outbound::web::WebRequestBuilder;
use mainstay_outbound::{Policy, Web, WebAnswer, WebOptions, WebRequest};
use serde_json::Value;
use url::Url;

/// Somebody who asks.
pub(crate) struct Client {
    web: Web,
    base: String,
    token: String,
}

impl Client {
    pub(crate) fn new(base: String, token: &str) -> Self {
        let policy = Policy { private: true, ..Policy::default() };
        let options = WebOptions::new(policy, Arc::new(SystemClock::new())).unwrap();
        Self { web: Web::new(&options).unwrap(), base, token: token.to_owned() }
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.ask(WebRequest::get("test", &self.url(path))).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask(WebRequest::post("test", &self.url(path), body.to_string())).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask(WebRequest::put("test", &self.url(path), body.to_string())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> (u16, Value) {
        self.ask(WebRequest::delete("test", &self.url(path))).await
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.base)).unwrap()
    }

    pub(crate) async fn answer(&self, request: WebRequestBuilder) -> WebAnswer {
        let bearer = Secret::new(format!("Bearer {}", self.token));
        let request = request.header("Authorization", bearer).build().unwrap();
        self.web.fetch(&request).await.unwrap()
    }

    /// The status, and the body as JSON or as the text that it is.
    pub(crate) async fn ask(&self, request: WebRequestBuilder) -> (u16, Value) {
        let answer = self.answer(request).await;
        let text = || Value::String(String::from_utf8_lossy(&answer.body).into_owned());
        (answer.status, serde_json::from_slice(&answer.body).unwrap_or_else(|_| text()))
    }
}
