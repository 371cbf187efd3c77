//! The adapter of the Responses API against a provider on loopback that behaves as it is told.
#![cfg(test)]

mod behaviours;
mod formats;
mod guarded;
mod telling;
mod writing;

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Secret, SystemClock};
use mainstay_reports::llm::fake::report;
use mainstay_reports::llm::{OpenAi, OpenAiSettings};
use mainstay_reports::prompt::Prompt;
use mainstay_reports::transcript::{Transcript, TranscriptForm};
use mainstay_reports::{Llm as _, LlmAnswer, LlmError, LlmRequest};
use mainstay_standins::llm::{Behaviour, LlmServer};
use url::Url;

/// What a test may wait for anything.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was said; the secret word must be told nowhere.
const CALL: &str = "00:00:05 Alice: checkout is down, hunter2\n\
    00:01:10 Bob: the database is full because of a migration\n";

pub(crate) async fn server(script: &[Behaviour]) -> LlmServer {
    LlmServer::start(script.iter().copied(), report).await.unwrap()
}

pub(crate) fn settings(base_url: &str) -> OpenAiSettings {
    let key = Secret::new("sk-hunter2".to_owned());
    let mut settings = OpenAiSettings::new(Url::parse(base_url).unwrap(), "gpt-test", Some(key));
    settings.timeout = Duration::from_secs(10);
    settings
}

pub(crate) fn open(settings: OpenAiSettings) -> OpenAi {
    OpenAi::new(settings, Arc::new(SystemClock::new())).unwrap()
}

pub(crate) fn open_by(settings: OpenAiSettings, clock: Arc<dyn Clock>) -> OpenAi {
    OpenAi::new(settings, clock).unwrap()
}

pub(crate) fn request() -> LlmRequest {
    let transcript = Transcript::parse(CALL.as_bytes(), TranscriptForm::Text).unwrap();
    LlmRequest::new(Prompt::new(&transcript, None))
}

/// Asks once, and looks at the error that may come back.
pub(crate) async fn ask(model: &OpenAi) -> Result<LlmAnswer, LlmError> {
    let request = request();
    let answered = tokio::time::timeout(PATIENCE, model.answer(&request)).await;
    let answered = answered.expect("a call ends");
    if let Err(error) = &answered {
        let text = format!("{error} {error:?}");
        assert!(text.len() > 60 && error.to_string().chars().count() <= 280, "{text}");
        assert!(!text.contains("hunter2") && !text.contains("127.0.0.1"), "{text}");
    }
    answered
}

/// Asks a provider that behaves like this.
pub(crate) async fn asked_of(behaviour: Behaviour) -> Result<LlmAnswer, LlmError> {
    let server = server(&[behaviour]).await;
    ask(&open(settings(&server.base_url()))).await
}
