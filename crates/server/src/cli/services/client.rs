//! Asks a running Mainstay.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use mainstay_base::{Secret, SystemClock};
use mainstay_monitor::desired::{Applied, Document, MAX_DOCUMENT_BYTES};
use mainstay_outbound::web::WebRequestBuilder;
use mainstay_outbound::{Policy, Web, WebAnswer, WebOptions, WebRequest};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use crate::config::ClientConfig;
use crate::config::client::Token;
use crate::exit::CheckFailed;

/// How long one call may take: longer than the server takes to give up.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The longest answer, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// The longest file with a token, in bytes.
const MAX_TOKEN_BYTES: u64 = 4 * 1024;

/// A server, and as whom it is asked.
pub(super) struct Client {
    web: Web,
    server: Url,
    token: Secret<String>,
}

/// What is sent to have a document applied.
#[derive(Serialize)]
pub(super) struct Ask<'a> {
    pub(super) document: &'a Document,
    pub(super) dry_run: bool,
    pub(super) prune: bool,
}

/// A refusal, as the server tells it.
#[derive(Debug, Deserialize)]
pub(super) struct Refused {
    pub(super) detail: String,
    /// The item of the document that it is about.
    pub(super) item: Option<String>,
    pub(super) field: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server refuses.
    Refused(Refused),
    /// Anything else, in a sentence.
    Other(anyhow::Error),
}

impl Client {
    /// Prepares to ask. Call it inside of the runtime.
    pub(super) fn prepare(config: &ClientConfig) -> anyhow::Result<Self> {
        // The caller's own machine: what it can reach, it may ask.
        let policy = Policy { private: true, ..Policy::default() };
        let mut options = WebOptions::new(policy, Arc::new(SystemClock::new()))?;
        options.ca_file.clone_from(&config.ca_file);
        let token = token(config.token.as_ref())?;
        Ok(Self { web: Web::new(&options)?, server: config.server.clone(), token })
    }

    /// Everything that is watched.
    pub(super) async fn export(&self) -> Result<Document, Failure> {
        let url = self.url("/api/services/export")?;
        self.ask(WebRequest::get("services", &url)).await
    }

    /// Has a document applied, or only planned.
    pub(super) async fn apply(&self, ask: &Ask<'_>) -> Result<Applied, Failure> {
        let url = self.url("/api/services/apply")?;
        let body = body(ask)?;
        let json = Secret::new("application/json".to_owned());
        self.ask(WebRequest::post("services", &url, body).header("Content-Type", json)).await
    }

    fn url(&self, path: &str) -> anyhow::Result<Url> {
        self.server.join(path).context("the address of the server can't be used")
    }

    async fn ask<T: DeserializeOwned>(&self, request: WebRequestBuilder) -> Result<T, Failure> {
        let bearer = Secret::new(format!("Bearer {}", self.token.expose()));
        let request = request.header("Authorization", bearer).timeout(TIMEOUT);
        let request = request.max_body(MAX_ANSWER_BYTES).build();
        let request = request.context("the request can't be sent; check the API token")?;
        let place = request.authority();
        let answer = self.web.fetch(&request).await.map_err(|error| {
            failed(format!("{place} can't be asked ({}): {error}", error.kind().name()))
        })?;
        if !answer.is_success() {
            return Err(refusal(&answer, &place));
        }
        serde_json::from_slice(&answer.body).map_err(|_| {
            failed(format!("{place} does not answer as Mainstay does; check --server"))
        })
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

/// What is sent. A server refuses what is longer.
fn body(ask: &Ask<'_>) -> anyhow::Result<Vec<u8>> {
    let body = serde_json::to_vec(ask).context("the document can't be sent")?;
    anyhow::ensure!(
        body.len() <= MAX_DOCUMENT_BYTES,
        "the document is longer than {MAX_DOCUMENT_BYTES} bytes, with everything that its anchors \
         stand for; split the file"
    );
    Ok(body)
}

fn refusal(answer: &WebAnswer, place: &str) -> Failure {
    serde_json::from_slice(&answer.body).map_or_else(
        |_| {
            let status = answer.status;
            failed(format!(
                "{place} answers with status {status}, and not as Mainstay does; check --server"
            ))
        },
        Failure::Refused,
    )
}

fn failed(message: String) -> Failure {
    Failure::Other(CheckFailed(message).into())
}

fn token(token: Option<&Token>) -> anyhow::Result<Secret<String>> {
    match token {
        Some(Token::Given(token)) => Ok(token.clone()),
        Some(Token::File(path)) => read_token(path),
        None => anyhow::bail!(
            "there is no API token; make one under /account and give its file by --token-file, or set \
             MAINSTAY_TOKEN"
        ),
    }
}

fn read_token(path: &Path) -> anyhow::Result<Secret<String>> {
    let shown = path.display();
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MAX_TOKEN_BYTES).read_to_string(&mut text))
        .with_context(|| format!("the API token can't be read from {shown}; check --token-file"))?;
    let token = text.trim();
    anyhow::ensure!(!token.is_empty(), "{shown} is empty; write the API token into it");
    anyhow::ensure!(
        token.bytes().all(|byte| byte.is_ascii_graphic()),
        "{shown} holds more than an API token; write the token into it and nothing else"
    );
    Ok(Secret::new(token.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_monitor::desired::DesiredAlias;

    #[test]
    fn what_a_server_would_not_read_is_not_sent() {
        let long = |length: usize| {
            let one = DesiredAlias { alias: "x".repeat(length), canonical_name: "y".to_owned() };
            Document { version: 1, aliases: vec![one], ..Document::default() }
        };
        let sent = |document: &Document| body(&Ask { document, dry_run: true, prune: false });
        let least = sent(&long(0)).unwrap().len();
        let told = sent(&long(MAX_DOCUMENT_BYTES - least + 1)).unwrap_err();
        assert!(!told.is::<CheckFailed>() && told.to_string().contains("split"), "{told}");
    }
}
