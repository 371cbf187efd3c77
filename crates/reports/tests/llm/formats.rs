//! By the schema first, and in any JSON where a provider refuses that.

use std::sync::Arc;

use mainstay_reports::llm::openai::FORMAT_REFUSED_FOR;
use mainstay_reports::schema;
use mainstay_standins::llm::{Behaviour, LlmServer};
use mainstay_testkit::FakeClock;

use crate::{ask, open, open_by, server, settings};

fn formats(server: &LlmServer) -> Vec<String> {
    server.asked().into_iter().map(|asked| asked.format).collect()
}

#[tokio::test]
async fn a_provider_without_schemas_is_asked_for_any_json_and_told_the_schema() {
    let server = server(&[Behaviour::NoSchemas]).await;
    let answer = ask(&open(settings(&server.base_url()))).await.unwrap();
    assert_eq!(schema::validate(&answer.json), Ok(()));
    assert_eq!(formats(&server), ["json_schema", "json_object"]);
    let asked = server.asked();
    let told = asked[1].body["instructions"].as_str().unwrap();
    assert!(told.contains("contributing_factors") && told.contains("JSON Schema"));
}

#[tokio::test]
async fn that_is_remembered_for_a_while() {
    let server = server(&[Behaviour::NoSchemas]).await;
    let clock = Arc::new(FakeClock::new());
    let model = open_by(settings(&server.base_url()), Arc::clone(&clock) as _);
    for _ in 0..3 {
        ask(&model).await.unwrap();
    }
    assert_eq!(formats(&server), ["json_schema", "json_object", "json_object", "json_object"]);
    clock.advance(FORMAT_REFUSED_FOR);
    server.behave(Behaviour::Good);
    ask(&model).await.unwrap();
    assert_eq!(formats(&server)[4..], ["json_schema"]);
}

#[tokio::test]
async fn another_refusal_is_not_taken_for_one_of_the_format() {
    let server = server(&[Behaviour::Refusing(400, "context_length_exceeded")]).await;
    let model = open(settings(&server.base_url()));
    assert_eq!(ask(&model).await.unwrap_err().code(), "llm_provider_4xx");
    assert_eq!(formats(&server), ["json_schema"]);
}

#[tokio::test]
async fn no_error_is_asked_again_by_the_adapter_itself() {
    for behaviour in [
        Behaviour::Failing(500),
        Behaviour::RateLimited(None),
        Behaviour::NotJson,
        Behaviour::OffSchema,
        Behaviour::HangsUp,
    ] {
        let server = server(&[behaviour, Behaviour::Good]).await;
        let _ = ask(&open(settings(&server.base_url()))).await;
        assert_eq!(server.asked().len(), 1, "{behaviour:?}");
    }
}
