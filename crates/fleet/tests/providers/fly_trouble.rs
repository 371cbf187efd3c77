//! What Fly does wrong, and what comes of it.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_fleet::providers::api::FAILURES_TO_OPEN;
use mainstay_fleet::providers::{
    Conflict, Departure, Fly, FlySettings, Provider as _, ProviderError, SetUpError,
};
use mainstay_standins::fly::{FlyOptions, FlyServer};
use mainstay_testkit::FakeClock;

use crate::fly::{count, running};
use crate::{PATIENCE, clock, fly, fly_options, fly_pair, fly_server, fly_settings, key, order};

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
    assert!(!error.is_retriable(), "there is no more room a second later");
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

#[tokio::test]
async fn silence_and_half_an_answer_are_nothing_to_go_by() {
    let options = fly_options();
    let server = fly_server(options.clone()).await;
    let mut settings = fly_settings(&server, &options);
    let machine = fly(settings.clone()).create(&order(1)).await.unwrap();
    settings.api.timeout = Duration::from_millis(150);
    let impatient = fly(settings.clone());
    server.switch(|switches| switches.silent = true);
    let error = impatient.look(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
    let error = impatient.stop(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Ambiguous(_)), "{error}");
    settings.api.timeout = PATIENCE;
    server.switch(|switches| (switches.silent, switches.cut) = (false, true));
    let error = fly(settings).look(&machine).await.unwrap_err();
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

/// A stand-in that counts nothing, and how it is asked.
async fn unlimited() -> (FlyServer, FlySettings) {
    let options = FlyOptions { is_limited: false, ..fly_options() };
    let server = fly_server(options.clone()).await;
    let settings = fly_settings(&server, &options);
    (server, settings)
}

#[tokio::test]
async fn a_machine_of_an_app_that_is_not_found_is_not_gone() {
    let (server, settings) = unlimited().await;
    let provider = fly(settings.clone());
    let machine = running(&provider, &order(1)).await;
    // FLY_APP was changed, or the token is of another organisation.
    let elsewhere = fly(FlySettings { app: "another".to_owned(), ..settings });
    server.switch(|switches| switches.no_app = true);
    for provider in [&elsewhere, &provider] {
        for outcome in [
            provider.look(&machine).await.map(drop),
            provider.stop(&machine).await,
            provider.start(&machine).await.map(drop),
            provider.destroy(&machine).await.map(drop),
        ] {
            let Err(ProviderError::Invalid(detail)) = outcome else { panic!("{outcome:?}") };
            assert!(detail.contains("404 app not found") && detail.contains("FLY_APP"), "{detail}");
        }
    }
    assert_eq!(server.machines()[0].state().name(), "started", "it runs all the time");
}

#[tokio::test]
async fn whether_the_app_is_found_is_asked_once_for_many_machines() {
    let (server, settings) = unlimited().await;
    let provider = Fly::new(settings, key(), Arc::new(FakeClock::new())).unwrap();
    let machine = running(&provider, &order(1)).await;
    server.reap(&machine.id).await;
    let lists = || count(&server, "GET /v1/apps/standin/machines");
    let before = lists();
    let gone = provider.stop(&machine).await.unwrap_err();
    assert!(matches!(gone, ProviderError::Gone(_)), "{gone}");
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Gone));
    assert_eq!(lists(), before + 1);
}

#[tokio::test]
async fn a_list_that_fails_tells_nothing_of_a_machine_that_is_not_found() {
    let (server, settings) = unlimited().await;
    let provider = fly(settings);
    let machine = running(&provider, &order(1)).await;
    server.reap(&machine.id).await;
    server.switch(|switches| switches.lists_fail = true);
    let error = provider.destroy(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
    server.switch(|switches| switches.lists_fail = false);
    assert_eq!(provider.destroy(&machine).await, Ok(Departure::Gone));
}
