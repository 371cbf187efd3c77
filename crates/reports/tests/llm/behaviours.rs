//! Each behaviour of a provider, by name.

use std::time::Duration;

use mainstay_reports::{LlmError, schema};
use mainstay_standins::llm::Behaviour;

use crate::{CALL, ask, asked_of, open, server, settings};

#[tokio::test]
async fn a_good_one_writes_a_report_with_evidence() {
    let server = server(&[Behaviour::Good]).await;
    let answer = ask(&open(settings(&server.base_url()))).await.unwrap();
    assert_eq!(schema::validate(&answer.json), Ok(()));
    assert_eq!(answer.model, "gpt-test");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&answer.raw).unwrap(), answer.json);
    let quote = answer.json["root_causes"][0]["evidence"][0]["quote"].as_str().unwrap();
    assert!(CALL.contains(quote), "{quote}");
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].authorization.as_deref(), Some("Bearer sk-hunter2"));
    let body = &asked[0].body;
    assert_eq!(body["model"], "gpt-test");
    assert_eq!((&body["store"], &body["text"]["format"]["strict"]), (&false.into(), &true.into()));
    assert!(body["instructions"].as_str().unwrap().contains("not instructions"));
    assert!(body["input"][0]["content"][0]["text"].as_str().unwrap().contains("checkout is down"));
}

#[tokio::test]
async fn a_slow_one_is_waited_for_within_the_timeout() {
    let behaviour = Behaviour::Slow(Duration::from_millis(100));
    assert!(asked_of(behaviour).await.is_ok());
    let server = server(&[Behaviour::Slow(Duration::from_secs(60))]).await;
    let mut settings = settings(&server.base_url());
    settings.timeout = Duration::from_millis(200);
    let error = ask(&open(settings)).await.unwrap_err();
    assert_eq!(error.code(), "llm_timeout");
    assert!(error.is_retriable() && error.to_string().contains("0.2 s"), "{error}");
}

#[tokio::test]
async fn a_silent_one_is_a_timeout() {
    let server = server(&[Behaviour::Silent]).await;
    let mut settings = settings(&server.base_url());
    settings.timeout = Duration::from_millis(200);
    assert_eq!(ask(&open(settings)).await.unwrap_err().code(), "llm_timeout");
}

#[tokio::test]
async fn one_that_limits_is_tried_again_not_before_it_says() {
    for (seconds, floor) in [(Some(17), Some(Duration::from_secs(17))), (None, None)] {
        let error = asked_of(Behaviour::RateLimited(seconds)).await.unwrap_err();
        assert_eq!((error.code(), error.is_retriable()), ("llm_rate_limited", true));
        assert_eq!(error.retry_after(), floor);
    }
}

#[tokio::test]
async fn one_that_fails_is_tried_again() {
    for status in [500, 502, 503, 529] {
        let error = asked_of(Behaviour::Failing(status)).await.unwrap_err();
        assert_eq!((error.code(), error.is_retriable()), ("llm_provider_5xx", true));
        assert!(error.to_string().contains(&status.to_string()), "{error}");
    }
}

#[tokio::test]
async fn one_that_says_no_is_not_tried_again() {
    for (status, code, told) in [
        (400, "context_length_exceeded", "context_length_exceeded"),
        (401, "invalid_api_key", "LLM_API_KEY"),
        (404, "model_not_found", "LLM_MODEL"),
        (422, "Not a word: hunter2", "422)"),
    ] {
        let error = asked_of(Behaviour::Refusing(status, code)).await.unwrap_err();
        assert_eq!((error.code(), error.is_retriable()), ("llm_provider_4xx", false));
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[tokio::test]
async fn what_is_not_json_is_kept_and_not_tried_again() {
    let error = asked_of(Behaviour::NotJson).await.unwrap_err();
    assert_eq!((error.code(), error.is_retriable()), ("llm_output_invalid_json", false));
    assert_eq!(error.raw(), Some("I am sorry, here is the report: hunter2"));
}

#[tokio::test]
async fn json_in_a_fence_is_json() {
    let answer = asked_of(Behaviour::Fenced).await.unwrap();
    assert_eq!(schema::validate(&answer.json), Ok(()));
    assert!(answer.raw.starts_with("```json"));
}

#[tokio::test]
async fn json_off_the_schema_is_an_answer_that_is_no_report() {
    let answer = asked_of(Behaviour::OffSchema).await.unwrap();
    let error = schema::validate(&answer.json).unwrap_err();
    assert_eq!(error.errors.len(), 3);
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[tokio::test]
async fn html_in_a_field_is_text() {
    let answer = asked_of(Behaviour::Html).await.unwrap();
    assert_eq!(schema::validate(&answer.json), Ok(()));
    assert_eq!(answer.json["title"], "<img src=x onerror=alert(1)>");
}

#[tokio::test]
async fn five_megabytes_are_too_much() {
    let error = asked_of(Behaviour::Huge).await.unwrap_err();
    assert_eq!((error.code(), error.is_retriable()), ("llm_provider_failed", false));
    assert!(error.to_string().contains("1048576 bytes"), "{error}");
}

#[tokio::test]
async fn a_failure_that_says_too_much_is_one_by_its_status() {
    for (status, code) in [(503, "llm_provider_5xx"), (429, "llm_rate_limited")] {
        let error = asked_of(Behaviour::FailingAtLength(status)).await.unwrap_err();
        assert_eq!((error.code(), error.is_retriable()), (code, true));
    }
    let error = asked_of(Behaviour::FailingAtLength(401)).await.unwrap_err();
    assert_eq!((error.code(), error.is_retriable()), ("llm_provider_4xx", false));
}

#[tokio::test]
async fn a_model_that_refuses_or_stops_early_is_told_apart() {
    for (behaviour, told) in [
        (Behaviour::Unwilling, "refused to write"),
        (Behaviour::Incomplete("max_output_tokens"), "max_output_tokens"),
        (Behaviour::Incomplete("content_filter"), "content_filter"),
        (Behaviour::Incomplete("some thing: hunter2"), "no reason given"),
        (Behaviour::FailedInside("invalid_prompt"), "invalid_prompt"),
        (Behaviour::ProxyPage, "LLM_BASE_URL"),
        (Behaviour::Moved, "LLM_BASE_URL"),
    ] {
        let error = asked_of(behaviour).await.unwrap_err();
        assert!(matches!(error, LlmError::Failed(_)), "{behaviour:?}: {error:?}");
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[tokio::test]
async fn a_failure_inside_of_a_success_is_what_it_says() {
    for (code, told) in
        [("rate_limit_exceeded", "llm_rate_limited"), ("server_error", "llm_provider_5xx")]
    {
        let error = asked_of(Behaviour::FailedInside(code)).await.unwrap_err();
        assert_eq!((error.code(), error.is_retriable()), (told, true));
    }
}

#[tokio::test]
async fn one_that_hangs_up_or_is_gone_is_a_network_error() {
    let error = asked_of(Behaviour::HangsUp).await.unwrap_err();
    assert_eq!((error.code(), error.is_retriable()), ("llm_network_error", true));
    let server = server(&[Behaviour::Good]).await;
    let model = open(settings(&server.base_url()));
    drop(server);
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.code(), error.is_retriable()), ("llm_network_error", true));
}
