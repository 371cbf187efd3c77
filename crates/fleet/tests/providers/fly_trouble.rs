//! What Fly does wrong, and what comes of it.

use std::time::Duration;

use mainstay_base::Secret;
use mainstay_fleet::providers::api::FAILURES_TO_OPEN;
use mainstay_fleet::providers::{Conflict, Fly, Provider as _, ProviderError, SetUpError};
use mainstay_standins::fly::FlyServer;

use crate::fly::{count, running};
use crate::{clock, fly, fly_options, fly_pair, fly_server, fly_settings, key, order};

fn made(server: &FlyServer) -> usize {
    server.machines().len()
}

#[tokio::test]
async fn a_create_that_was_done_and_answered_408_is_found_by_its_metadata() {
    let (server, provider) = fly_pair().await;
    server.switch(|switches| switches.creates_lost = 1);
    let machine = provider.create(&order(1)).await.unwrap();
    assert_eq!((made(&server), count(&server, "POST /v1/apps/standin/machines")), (1, 1));
    assert_eq!(server.machines()[0].id(), machine.id);
    let questions = server.questions();
    let listed = questions.iter().rfind(|asked| asked.method == "GET").unwrap();
    let worker = order(1).worker.to_string();
    assert_eq!(listed.parameter("metadata.mainstay_worker"), Some(worker.as_str()));
    assert_eq!(listed.parameter("metadata.mainstay_generation"), Some("1"));
}

#[tokio::test]
async fn a_create_that_was_not_done_and_answered_408_is_ambiguous_and_may_be_given_again() {
    let (server, provider) = fly_pair().await;
    server.switch(|switches| switches.creates_dropped = 1);
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Ambiguous(_)), "{error}");
    assert_eq!((made(&server), count(&server, "POST /v1/apps/standin/machines")), (0, 1));
    provider.create(&order(1)).await.unwrap();
    assert_eq!(made(&server), 1);
}

#[tokio::test]
async fn a_list_that_lies_makes_no_second_machine() {
    let (server, provider) = fly_pair().await;
    server.switch(|switches| {
        switches.empty_lists = true;
        switches.creates_lost = 1;
    });
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Ambiguous(_)), "{error}");
    let machine = provider.create(&order(1)).await.unwrap();
    assert_eq!((made(&server), server.machines()[0].id()), (1, machine.id.as_str()));
}

#[tokio::test]
async fn what_a_list_leaves_out_is_not_gone() {
    let (server, provider) = fly_pair().await;
    let machine = running(&provider, &order(1)).await;
    server.switch(|switches| switches.omitted = Some(machine.id.clone()));
    assert_eq!(provider.list().await.unwrap(), []);
    provider.look(&machine).await.expect("the machine itself is asked for");
}

#[tokio::test]
async fn no_room_is_a_conflict_and_makes_nothing() {
    let (server, provider) = fly_pair().await;
    server.switch(|switches| switches.no_capacity = true);
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Conflict { kind: Conflict::Capacity, .. }), "{error}");
    assert!(error.is_retriable());
    assert_eq!(made(&server), 0);
}

#[tokio::test]
async fn a_wrong_token_is_denied_and_never_told() {
    let options = fly_options();
    let server = fly_server(options.clone()).await;
    let mut settings = fly_settings(&server, &options);
    settings.api.token = Secret::new("hunter2".to_owned());
    let provider = fly(settings);
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(&error, ProviderError::Denied(detail) if detail.contains("token validation")));
    assert!(!format!("{error} {error:?} {provider:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_limit_in_plain_text_is_told_with_its_time() {
    let (server, provider) = fly_pair().await;
    let machine = provider.create(&order(1)).await.unwrap();
    server.switch(|switches| switches.everything = Some((429, "rate limit exceeded".to_owned())));
    let error = provider.look(&machine).await.unwrap_err();
    assert_eq!(error, ProviderError::Throttled { retry_after: Duration::from_secs(1) });
}

#[tokio::test]
async fn trouble_of_flys_own_says_nothing_of_the_machine_and_is_left_alone_after_a_while() {
    let (server, provider) = fly_pair().await;
    let machine = provider.create(&order(1)).await.unwrap();
    for body in ["", "<html>bad gateway</html>", r#"{"error":"boom"}"#] {
        server.switch(|switches| switches.everything = Some((502, body.to_owned())));
        let error = provider.look(&machine).await.unwrap_err();
        assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
        assert!(error.is_the_providers_own());
    }
    for _ in 3..FAILURES_TO_OPEN {
        provider.look(&machine).await.unwrap_err();
    }
    let asked = server.asked().len();
    let error = provider.look(&machine).await.unwrap_err();
    assert!(error.to_string().contains("left alone"), "{error}");
    assert_eq!(server.asked().len(), asked);
}

#[tokio::test]
async fn what_is_no_machine_at_all_is_no_word_about_it_either() {
    for body in
        ["[]", "{}", "\"x\"", "{\"id\":\"other\",\"name\":\"x\",\"state\":\"started\"}", "\u{fffd}"]
    {
        let (server, provider) = fly_pair().await;
        let machine = provider.create(&order(1)).await.unwrap();
        server.switch(|switches| switches.everything = Some((200, body.to_owned())));
        let error = provider.look(&machine).await.unwrap_err();
        assert!(matches!(error, ProviderError::Unreachable(_)), "{body}: {error}");
    }
}

async fn impatient(change: impl FnOnce(&mut mainstay_standins::fly::Switches)) -> (FlyServer, Fly) {
    let options = fly_options();
    let server = fly_server(options.clone()).await;
    let mut settings = fly_settings(&server, &options);
    settings.api.timeout = Duration::from_millis(150);
    server.switch(change);
    let provider = fly(settings);
    (server, provider)
}

#[tokio::test]
async fn silence_and_half_an_answer_are_nothing_to_go_by() {
    let (server, provider) = impatient(|_| {}).await;
    let machine = provider.create(&order(1)).await.unwrap();
    server.switch(|switches| switches.silent = true);
    let error = provider.look(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
    let error = provider.stop(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Ambiguous(_)), "{error}");
    server.switch(|switches| (switches.silent, switches.cut) = (false, true));
    let error = provider.look(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn a_provider_that_is_not_there_was_not_asked_for_anything() {
    let (server, provider) = fly_pair().await;
    drop(server);
    let error = provider.create(&order(1)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
}

#[tokio::test]
async fn an_app_that_is_none_is_told_with_the_setting_to_mend() {
    let options = fly_options();
    let server = fly_server(options.clone()).await;
    let mut settings = fly_settings(&server, &options);
    settings.app = "another".to_owned();
    let error = fly(settings.clone()).create(&order(1)).await.unwrap_err();
    assert!(matches!(&error, ProviderError::Invalid(text) if text.contains("FLY_APP")), "{error}");
    for (app, image, named) in
        [("../x", "image", "FLY_APP"), ("", "image", "FLY_APP"), ("app", " ", "FLY_IMAGE")]
    {
        (settings.app, settings.image) = (app.to_owned(), image.to_owned());
        let error = Fly::new(settings.clone(), key(), clock()).unwrap_err();
        assert!(matches!(&error, SetUpError::Setting(text) if text.contains(named)), "{error}");
    }
    (settings.app, settings.image) = ("app".to_owned(), "image".to_owned());
    settings.api.token = Secret::new("hunter2\nX-Evil: 1".to_owned());
    let error = Fly::new(settings, key(), clock()).unwrap_err().to_string();
    assert!(error.contains("token") && !error.contains("hunter2"), "{error}");
}
