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
use crate::providers::kind::ProviderKind;
use crate::providers::name::{MachineName, PREFIX};

/// The most sprites in one page of a list.
const PAGE: &str = "50";
/// The most pages of a list.
const MAX_PAGES: usize = 200;

/// Asks Sprites.
#[derive(Debug)]
pub(super) struct Calls {
    api: Api,
}

impl Calls {
    pub(super) fn new(
        settings: &SpriteSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, SetUpError> {
        Ok(Self { api: Api::new(ProviderKind::Sprite, settings.api.clone(), clock)? })
    }

    pub(super) async fn create(&self, name: &MachineName) -> Result<Told, ProviderError> {
        let body = json!({
            "name": name.as_str(),
            // The agent asks for its own token.
            "url_settings": { "auth": "public" },
            "labels": ["mainstay"],
        });
        let question = Question::new("create", Method::Post, sprites()).body(body);
        let answer = self.ask(question, true).await?;
        json(&answer.body).map_err(|error| ProviderError::Ambiguous(error.to_string()))
    }

    pub(super) async fn get(&self, name: &MachineName) -> Result<Told, ProviderError> {
        let question = Question::new("get", Method::Get, sprite(name, &[]));
        let told: Told = json(&self.ask(question, false).await?.body)?;
        if told.name == name.as_str() && !told.id.is_empty() {
            return Ok(told);
        }
        Err(ProviderError::Unreachable("it answered with another sprite".to_owned()))
    }

    pub(super) async fn delete(&self, name: &MachineName) -> Result<(), ProviderError> {
        let question = Question::new("destroy", Method::Delete, sprite(name, &[]));
        self.ask(question, true).await.map(drop)
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
        self.ask(question, true).await.map(drop)
    }

    /// `start` or `stop`: the answer is a stream of lines, and says nothing that the service does not.
    pub(super) async fn steer(
        &self,
        name: &MachineName,
        what: &'static str,
    ) -> Result<(), ProviderError> {
        let path = sprite(name, &["services", SERVICE, what]);
        self.ask(Question::new(what, Method::Post, path), true).await.map(drop)
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
            let page: Page = json(&self.ask(question, false).await?.body)?;
            listed.extend(page.sprites);
            match page.next_continuation_token.filter(|_| page.has_more) {
                Some(next) => token = Some(next),
                None => break,
            }
        }
        Ok(listed)
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

fn sprites() -> Vec<String> {
    ["v1", "sprites"].map(ToOwned::to_owned).to_vec()
}

fn sprite(name: &MachineName, rest: &[&str]) -> Vec<String> {
    let mut path = sprites();
    path.push(name.to_string());
    path.extend(rest.iter().map(|part| (*part).to_owned()));
    path
}
