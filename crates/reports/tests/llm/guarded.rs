//! A provider that fails is left alone, and one inside of the network may be asked.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_reports::llm::openai::{FAILURES_TO_OPEN, TIMEOUT};
use mainstay_reports::llm::{OpenAi, OpenAiSettings};
use mainstay_reports::{Llm as _, LlmError};
use mainstay_standins::llm::Behaviour;
use mainstay_testkit::FakeClock;

use crate::{ask, open, open_by, request, server, settings};

#[tokio::test]
async fn a_provider_that_fails_is_left_alone_until_its_time() {
    let server = server(&[Behaviour::Failing(503)]).await;
    let clock = Arc::new(FakeClock::new());
    let settings = settings(&server.base_url());
    let open_for = settings.open_for;
    let model = open_by(settings, Arc::clone(&clock) as _);
    let bound = usize::try_from(FAILURES_TO_OPEN).unwrap();
    for _ in 0..bound {
        assert_eq!(ask(&model).await.unwrap_err().code(), "llm_provider_5xx");
    }
    assert_eq!(ask(&model).await, Err(LlmError::Open { wait: open_for }));
    assert_eq!(server.asked().len(), bound);
    clock.advance(open_for);
    server.behave(Behaviour::Good);
    assert!(ask(&model).await.is_ok());
    assert!(ask(&model).await.is_ok());
}

#[tokio::test]
async fn a_probe_may_take_as_long_as_any_call_and_others_ask_again_soon() {
    let server = server(&[Behaviour::Failing(503)]).await;
    let clock = Arc::new(FakeClock::new());
    let mut settings = settings(&server.base_url());
    settings.timeout = TIMEOUT;
    let open_for = settings.open_for;
    let model = open_by(settings, Arc::clone(&clock) as _);
    for _ in 0..FAILURES_TO_OPEN {
        assert!(ask(&model).await.is_err());
    }
    clock.advance(open_for);
    server.behave(Behaviour::Held);
    let asked = server.asked().len();
    let others = async {
        while server.asked().len() == asked {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(ask(&model).await, Err(LlmError::Open { wait: Duration::from_secs(2) }));
        clock.advance(TIMEOUT - Duration::from_secs(1));
        assert_eq!(ask(&model).await, Err(LlmError::Open { wait: Duration::from_secs(30) }));
        assert_eq!(server.asked().len(), asked + 1, "the one probe is waited for");
        server.behave(Behaviour::Good);
        server.let_go();
    };
    let (probe, ()) = tokio::join!(ask(&model), others);
    assert!(probe.is_ok(), "{probe:?}");
    let (one, other) = tokio::join!(ask(&model), ask(&model));
    assert!(one.is_ok() && other.is_ok(), "a slow answer closes it: {one:?} {other:?}");
}

#[tokio::test]
async fn one_that_answers_is_not_left_alone_whatever_it_says() {
    let server = server(&[Behaviour::Refusing(401, "invalid_api_key")]).await;
    let model = open(settings(&server.base_url()));
    for _ in 0..2 * FAILURES_TO_OPEN {
        assert_eq!(ask(&model).await.unwrap_err().code(), "llm_provider_4xx");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_and_speaks_against_nobody() {
    let server = server(&[Behaviour::Silent]).await;
    let model = open(settings(&server.base_url()));
    for _ in 0..2 * FAILURES_TO_OPEN {
        let request = request();
        let dropped = tokio::time::timeout(Duration::from_millis(20), model.answer(&request));
        assert!(dropped.await.is_err());
    }
    server.behave(Behaviour::Good);
    assert!(ask(&model).await.is_ok());
}

#[tokio::test]
async fn a_base_with_a_slash_and_no_key_do() {
    let server = server(&[Behaviour::Good]).await;
    let mut settings = settings(&format!("{}/", server.base_url()));
    settings.api_key = None;
    assert!(ask(&open(settings)).await.is_ok());
    assert_eq!(server.asked()[0].authorization, None);
}

#[tokio::test]
async fn what_can_not_be_sent_is_told_at_the_start() {
    let key = Some(Secret::new("hunter2\nX-Evil: 1".to_owned()));
    let url = "https://llm.example/v1".parse().unwrap();
    let settings = OpenAiSettings::new(url, "m", key);
    let error = OpenAi::new(settings, Arc::new(FakeClock::new())).unwrap_err().to_string();
    assert!(error.contains("LLM_API_KEY") && !error.contains("hunter2"), "{error}");
}
