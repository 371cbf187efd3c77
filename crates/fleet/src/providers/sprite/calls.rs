//! One question each.

use std::sync::Arc;

use mainstay_base::Clock;
use mainstay_outbound::WebAnswer;
use serde_json::{Value, json};

use super::reading::{Page, Service, Told};
use super::refusal;
use super::service::SERVICE;
use super::settings::SpriteSettings;
use crate::providers::api::{Api, Method, Question, SetUpError, json};
use crate::providers::error::ProviderError;
use crate::providers::ground::Ground;
use crate::providers::kind::ProviderKind;
use crate::providers::name::{MachineName, PREFIX};

/// The most sprites in one page of a list.
const PAGE: &str = "50";
/// The most pages of a list.
const MAX_PAGES: usize = 200;

/// Asks Sprites.
pub(super) struct Calls {
    api: Api,
    /// Whether there are sprites at all.
    ground: Ground,
}

impl Calls {
    pub(super) fn new(
        settings: &SpriteSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetUpError> {
        let api = Api::new(ProviderKind::Sprite, settings.api.clone(), Arc::clone(&clock))?;
        Ok(Self { api, ground: Ground::new(clock) })
    }

    pub(super) async fn create(&self, name: &MachineName) -> Result<Told, ProviderError> {
        let body = json!({
            "name": name.as_str(),
            // The agent asks for its own token.
            "url_settings": { "auth": "public" },
            "labels": ["mainstay"],
        });
        let question = Question::new("create", Method::Post, sprites()).body(body);
        let answer = self.ask(question, true).await.map_err(nowhere)?;
        json(&answer.body).map_err(|error| ProviderError::Ambiguous(error.to_string()))
    }

    pub(super) async fn get(&self, name: &MachineName) -> Result<Told, ProviderError> {
        let question = Question::new("get", Method::Get, sprite(name, &[]));
        let told: Told = json(&self.ask_of_one(question, false).await?.body)?;
        if told.name == name.as_str() && !told.id.is_empty() {
            return Ok(told);
        }
        Err(ProviderError::Unreachable("it answered with another sprite".to_owned()))
    }

    pub(super) async fn delete(&self, name: &MachineName) -> Result<(), ProviderError> {
        let question = Question::new("destroy", Method::Delete, sprite(name, &[]));
        self.ask_of_one(question, true).await.map(drop)
    }

    /// The agent's service, where there is one. It wakes the sprite.
    pub(super) async fn service(
        &self,
        name: &MachineName,
    ) -> Result<Option<Service>, ProviderError> {
        let path = sprite(name, &["services", SERVICE]);
        match self.ask(Question::new("service", Method::Get, path), false).await {
            Ok(answer) => json(&answer.body).map(Some),
            Err(ProviderError::Gone(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn define(
        &self,
        name: &MachineName,
        definition: Value,
    ) -> Result<(), ProviderError> {
        let path = sprite(name, &["services", SERVICE]);
        let question = Question::new("define", Method::Put, path).body(definition);
        self.ask_of_one(question, true).await.map(drop)
    }

    /// `start` or `stop`: the answer is a stream of lines, and says nothing that the service does not.
    pub(super) async fn steer(
        &self,
        name: &MachineName,
        what: &'static str,
    ) -> Result<(), ProviderError> {
        let path = sprite(name, &["services", SERVICE, what]);
        self.ask_of_one(Question::new(what, Method::Post, path), true).await.map(drop)
    }

    /// All sprites of ours, page by page.
    pub(super) async fn list(&self) -> Result<Vec<Told>, ProviderError> {
        let mut listed = Vec::new();
        let mut token = None;
        for _ in 0..MAX_PAGES {
            let mut question = Question::get("list", sprites()).with("prefix", PREFIX);
            question = question.with("max_results", PAGE);
            if let Some(token) = token.take() {
                question = question.with("continuation_token", token);
            }
            let page = self.page(question).await?;
            listed.extend(page.sprites);
            match page.next_continuation_token.filter(|_| page.has_more) {
                Some(next) => token = Some(next),
                None => break,
            }
        }
        Ok(listed)
    }

    async fn page(&self, question: Question) -> Result<Page, ProviderError> {
        json(&self.ask(question, false).await.map_err(nowhere)?.body)
    }

    /// Asks something of one sprite: another API than that of Sprites does not find it either.
    async fn ask_of_one(
        &self,
        question: Question,
        makes: bool,
    ) -> Result<WebAnswer, ProviderError> {
        match self.ask(question, makes).await {
            Err(ProviderError::Gone(detail)) => {
                Err(self.ground.missing(detail, self.trouble()).await)
            }
            other => other,
        }
    }

    /// Why nothing can be said of a sprite.
    pub(super) async fn trouble(&self) -> Option<ProviderError> {
        let question = Question::get("list", sprites()).with("prefix", PREFIX);
        self.page(question.with("max_results", "1")).await.err()
    }

    async fn ask(&self, question: Question, makes: bool) -> Result<WebAnswer, ProviderError> {
        let answered = self.api.ask(&question).await;
        let answer = answered.map_err(|trouble| match makes {
            true => trouble.harmful(),
            false => trouble.harmless(),
        })?;
        if answer.is_success() { Ok(answer) } else { Err(refusal::read(&answer, makes)) }
    }
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Calls").finish_non_exhaustive()
    }
}

/// What is missing is the API, and no sprite.
fn nowhere(error: ProviderError) -> ProviderError {
    match error {
        ProviderError::Gone(detail) => {
            let check = "this is not the API of Sprites: check SPRITES_API_URL and SPRITES_TOKEN";
            ProviderError::Invalid(format!("{detail}; {check}"))
        }
        other => other,
    }
}

fn sprites() -> Vec<String> {
    ["v1", "sprites"].map(ToOwned::to_owned).to_vec()
}

fn sprite(name: &MachineName, rest: &[&str]) -> Vec<String> {
    let mut path = sprites();
    path.push(name.to_string());
    path.extend(rest.iter().map(|part| (*part).to_owned()));
    path
}
