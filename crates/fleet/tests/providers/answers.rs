//! Whatever a provider answers, and however: what it means is one of our words, and only its own word that
//! there is no such machine is that the machine is gone.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Clock;
use mainstay_fleet::providers::api::{FAILURES_TO_OPEN, OPEN_FOR};
use mainstay_fleet::providers::{
    Fly, FlySettings, Machine, Provider, ProviderError, ProviderKind, Rest, Sprites,
};
use mainstay_standins::fly::FlyServer;
use mainstay_standins::sprites::{SpriteOptions, SpriteServer};
use mainstay_testkit::FakeClock;

use crate::{PATIENCE, clock, fly_options, fly_server, fly_settings, key, order, sprite_settings};

/// Every status that some server on the way may answer with, and is no success.
const STATUSES: [u16; 26] = [
    301, 302, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 412, 413, 415, 418, 422, 425,
    429, 500, 501, 502, 503, 504, 599,
];

/// Every shape of an error, and what is none.
const SHAPES: [&str; 15] = [
    r#"{"error":"something"}"#,
    r#"{"error":"something","status":"unknown"}"#,
    r#"{"message":"something"}"#,
    r#"{"status":"error","code":"unknown","message":"something"}"#,
    CODE_ALONE,
    r#"{"error":"code","message":"something","retry_after_seconds":3}"#,
    r#"{"error":{"deep":["er"]},"message":7,"status":[],"code":null}"#,
    "something",
    "",
    "{}",
    "[]",
    "null",
    "<html><body>502 Bad Gateway</body></html>",
    "{\"error\":\"a\\u0000b\\u001b[31m\"}",
    "{\"error\":\"cut",
];

/// The one in which a code says it all.
const CODE_ALONE: &str = r#"{"status":"error","code":"something"}"#;

/// A provider behind an API, and the stand-in that it asks.
enum House {
    Fly(FlyServer, Box<FlySettings>),
    Sprite(SpriteServer),
}

impl House {
    async fn of(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::Sprite => {
                Self::Sprite(SpriteServer::start(SpriteOptions::default(), clock()).await.unwrap())
            }
            _ => {
                let options = fly_options();
                let server = fly_server(options.clone()).await;
                let settings = fly_settings(&server, &options);
                Self::Fly(server, Box::new(settings))
            }
        }
    }

    /// A provider that remembers nothing of earlier answers.
    fn provider(&self, timeout: Duration, clock: Arc<dyn Clock>) -> Arc<dyn Provider> {
        match self {
            Self::Fly(_, settings) => {
                let mut settings = (**settings).clone();
                settings.api.timeout = timeout;
                Arc::new(Fly::new(settings, key(), clock).unwrap())
            }
            Self::Sprite(server) => {
                let mut settings = sprite_settings(server, &SpriteOptions::default().token);
                settings.api.timeout = timeout;
                Arc::new(Sprites::new(settings, key(), clock).unwrap())
            }
        }
    }

    fn fresh(&self) -> Arc<dyn Provider> {
        self.provider(PATIENCE, clock())
    }

    /// A machine that runs.
    async fn machine(&self) -> Machine {
        let provider = self.fresh();
        let made = provider.create(&order(1)).await.unwrap();
        provider.wait(&made, Rest::Running, PATIENCE).await.unwrap().machine
    }

    fn answer_everything(&self, with: Option<(u16, &str)>) {
        let with = with.map(|(status, body)| (status, body.to_owned()));
        match self {
            Self::Fly(server, _) => server.switch(|switches| switches.everything = with),
            Self::Sprite(server) => server.switch(|switches| switches.everything = with),
        }
    }

    /// So many questions about a machine find none.
    fn not_found(&self, count: u32) {
        match self {
            Self::Fly(server, _) => server.switch(|switches| switches.not_found = count),
            Self::Sprite(server) => server.switch(|switches| switches.not_found = count),
        }
    }

    /// What to look at where nothing is found at all.
    fn setting(&self) -> &'static str {
        match self {
            Self::Fly(..) => "check FLY_APP",
            Self::Sprite(_) => "check SPRITES_API_URL and SPRITES_TOKEN",
        }
    }

    fn keep_silent(&self, is_silent: bool) {
        match self {
            Self::Fly(server, _) => server.switch(|switches| switches.silent = is_silent),
            Self::Sprite(server) => server.switch(|switches| switches.silent = is_silent),
        }
    }

    fn asked(&self) -> usize {
        match self {
            Self::Fly(server, _) => server.asked().len(),
            Self::Sprite(server) => server.asked().len(),
        }
    }
}

/// What a status may mean for a question about one machine.
fn meanings(kind: ProviderKind, status: u16) -> &'static [&'static str] {
    match status {
        401 | 403 => &["denied"],
        // Where nothing at all is found, this is not where the machine is: nothing is known of it.
        404 => &["invalid"],
        409 => &["conflict"],
        412 if kind == ProviderKind::Fly => &["conflict"],
        429 => &["throttled"],
        300..=399 | 408 | 500..=599 => &["unreachable", "ambiguous"],
        _ => &["invalid"],
    }
}

async fn every_status_in_every_shape_is_one_of_our_words(kind: ProviderKind) {
    let house = House::of(kind).await;
    let machine = house.machine().await;
    for status in STATUSES {
        for shape in SHAPES {
            house.answer_everything(Some((status, shape)));
            let provider = house.fresh();
            for outcome in [
                provider.look(&machine).await.map(drop),
                provider.stop(&machine).await,
                provider.start(&machine).await.map(drop),
            ] {
                let error = outcome.expect_err("nothing was done");
                let known = meanings(kind, status);
                assert!(known.contains(&error.code()), "{status} {shape}: {error:?}");
                // A limit says for how long, and nothing else.
                let is_told = error.to_string().contains("something") || status == 429;
                assert!(is_told || shape != CODE_ALONE, "{status} {shape}: {error}");
                is_fit_to_be_told(&error);
            }
        }
    }
    house.answer_everything(None);
    house.fresh().look(&machine).await.expect("it was there all the time");
}

async fn no_status_alone_is_the_end_of_a_machine_that_is_destroyed(kind: ProviderKind) {
    let house = House::of(kind).await;
    let machine = house.machine().await;
    for status in STATUSES {
        house.answer_everything(Some((status, r#"{"error":"something"}"#)));
        let error = house.fresh().destroy(&machine).await.expect_err("it runs all the time");
        assert!(meanings(kind, status).contains(&error.code()), "{status}: {error:?}");
        if status == 404 {
            assert!(error.to_string().contains(house.setting()), "{error}");
        }
    }
    house.answer_everything(None);
    house.fresh().look(&machine).await.expect("it was there all the time");
}

async fn gone_is_believed_only_when_it_is_said_twice(kind: ProviderKind) {
    let house = House::of(kind).await;
    let machine = house.machine().await;
    house.not_found(1);
    let error = house.fresh().destroy(&machine).await.expect_err("it was said once");
    assert!(error.is_retriable(), "{error:?}");
    house.fresh().look(&machine).await.expect("it was there all the time");
    house.fresh().destroy(&machine).await.unwrap();
}

async fn no_answer_makes_a_machine_that_is_none(kind: ProviderKind) {
    let house = House::of(kind).await;
    for status in STATUSES {
        for shape in ["something", r#"{"error":"something"}"#] {
            house.answer_everything(Some((status, shape)));
            let provider = house.fresh();
            let error = provider.create(&order(2)).await.unwrap_err();
            // There is no machine yet that could be gone: where the place itself is not found, the
            // settings are wrong.
            for error in [error, provider.list().await.unwrap_err()] {
                assert_ne!(error.code(), "gone", "{status} {shape}: {error:?}");
                if status == 404 {
                    assert_eq!(error.code(), "invalid", "{shape}: {error:?}");
                    assert!(error.to_string().contains(house.setting()), "{error}");
                }
                is_fit_to_be_told(&error);
            }
        }
    }
    for body in ["", "{}", "[]", "null", "\"x\"", "<html>", "{\"id\":7}"] {
        house.answer_everything(Some((200, body)));
        if let Ok(machine) = house.fresh().create(&order(2)).await {
            panic!("{body} made {machine:?}");
        }
    }
}

async fn silence_ends_in_its_time_and_is_no_word_about_the_machine(kind: ProviderKind) {
    let house = House::of(kind).await;
    let machine = house.machine().await;
    house.keep_silent(true);
    let provider = house.provider(Duration::from_millis(100), clock());
    let looking = tokio::time::timeout(PATIENCE, provider.look(&machine)).await.unwrap();
    let error = looking.unwrap_err();
    assert!(matches!(error, ProviderError::Unreachable(_)), "{error}");
    let stopping = tokio::time::timeout(PATIENCE, provider.stop(&machine)).await.unwrap();
    let error = stopping.unwrap_err();
    assert!(
        matches!(error, ProviderError::Unreachable(_) | ProviderError::Ambiguous(_)),
        "{error}"
    );
}

async fn one_that_fails_is_left_alone_and_asked_again_after_a_while(kind: ProviderKind) {
    for status in [401, 403, 408, 429, 503] {
        one_that_answers_is_left_alone(kind, status).await;
    }
}

async fn one_that_answers_is_left_alone(kind: ProviderKind, status: u16) {
    let house = House::of(kind).await;
    let machine = house.machine().await;
    let time = Arc::new(FakeClock::new());
    let provider = house.provider(PATIENCE, Arc::clone(&time) as _);
    house.answer_everything(Some((status, "boom")));
    for _ in 0..FAILURES_TO_OPEN {
        provider.look(&machine).await.unwrap_err();
    }
    let asked = house.asked();
    let error = provider.look(&machine).await.unwrap_err();
    assert!(matches!(error, ProviderError::LeftAlone { .. }), "{status}: {error}");
    assert_eq!(house.asked(), asked, "nobody was asked");
    house.answer_everything(None);
    time.advance(OPEN_FOR);
    provider.look(&machine).await.expect("it is asked again");
}

/// What people are told is bounded, on one line, and no secret.
fn is_fit_to_be_told(error: &ProviderError) {
    let text = error.to_string();
    assert!(text.len() < 600 && !text.chars().any(char::is_control), "{text:?}");
    assert!(!text.contains("standin-token"), "{text}");
}

macro_rules! each_api {
    ($($name:ident),* $(,)?) => {
        mod of_fly {
            use super::*;
            $(#[tokio::test] async fn $name() { super::$name(ProviderKind::Fly).await; })*
        }
        mod of_sprites {
            use super::*;
            $(#[tokio::test] async fn $name() { super::$name(ProviderKind::Sprite).await; })*
        }
    };
}

each_api! {
    every_status_in_every_shape_is_one_of_our_words,
    no_status_alone_is_the_end_of_a_machine_that_is_destroyed,
    gone_is_believed_only_when_it_is_said_twice,
    no_answer_makes_a_machine_that_is_none,
    silence_ends_in_its_time_and_is_no_word_about_the_machine,
    one_that_fails_is_left_alone_and_asked_again_after_a_while,
}
