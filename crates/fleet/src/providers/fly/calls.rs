//! One question each, in Fly's own pace.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Secret};
use mainstay_kernel::{Rate, ZeroLimit};
use mainstay_outbound::WebAnswer;
use serde_json::{Value, json};

use super::lease::{Holder, ToldLease, sign};
use super::order::WORKER;
use super::reading::Told;
use super::refusal::{self, Effect};
use super::settings::FlySettings;
use crate::providers::api::{self, Api, Method, Question, SetUpError, Trouble};
use crate::providers::error::ProviderError;
use crate::providers::ground::Ground;
use crate::providers::kind::ProviderKind;
use crate::providers::machine::Machine;
use crate::providers::pace::Paces;

/// The header that says that we hold a machine.
const NONCE: &str = "fly-machine-lease-nonce";

/// What no machine of ours has in its metadata: a list of those is short.
pub(super) const NOBODY: &str = "nobody";

/// The longest that Fly waits in one call.
pub(super) const MAX_WAIT: Duration = Duration::from_secs(60);

/// Asks Fly.
pub(super) struct Calls {
    api: Api,
    app: String,
    paces: Paces<(&'static str, String)>,
    /// Of all actions, each on each machine.
    actions: Rate,
    /// Of reading a machine.
    reads: Rate,
    /// Whether there is the app.
    ground: Ground,
}

impl Calls {
    pub(super) fn new(settings: &FlySettings, clock: Arc<dyn Clock>) -> Result<Self, SetUpError> {
        let bug = |error: ZeroLimit| SetUpError::Setting(error.to_string());
        let second = Duration::from_secs(1);
        let api = Api::new(ProviderKind::Fly, settings.api.clone(), Arc::clone(&clock))?;
        Ok(Self {
            api,
            app: settings.app.clone(),
            paces: Paces::new(Arc::clone(&clock)),
            // A little less at once than the 3 and 10 that Fly takes: calls overtake each other.
            actions: Rate::new(1, second, 2).map_err(bug)?,
            reads: Rate::new(5, second, 8).map_err(bug)?,
            ground: Ground::new(clock),
        })
    }

    /// The machines of the app, those with this metadata only. What is missing need not be gone.
    pub(super) async fn list(&self, having: &[(&str, String)]) -> Result<Vec<Told>, ProviderError> {
        let mut question = Question::get("list", self.machines());
        for (key, value) in having {
            question = question.with(format!("metadata.{key}"), value.as_str());
        }
        let answer = self.ask(question, "", Effect::Reads).await.map_err(no_app)?;
        // One that can't be read must not hide the others.
        let listed: Vec<Value> = api::json(&answer.body)?;
        Ok(listed.into_iter().filter_map(|one| serde_json::from_value(one).ok()).collect())
    }

    pub(super) async fn get(&self, id: &str) -> Result<Told, ProviderError> {
        let question = self.on("get", Method::Get, id, None);
        let told: Told = api::json(&self.ask(question, id, Effect::Reads).await?.body)?;
        if told.id() == id {
            return Ok(told);
        }
        Err(ProviderError::Unreachable("it answered with another machine".to_owned()))
    }

    pub(super) async fn create(&self, body: Value) -> Result<Told, ProviderError> {
        let path = self.machines();
        let question = Question::new("create", Method::Post, path).body(body);
        let answer = self.ask(question, "", Effect::Makes).await.map_err(no_app)?;
        // It is made, whatever the answer looks like.
        api::json(&answer.body).map_err(|error| ProviderError::Ambiguous(error.to_string()))
    }

    pub(super) async fn start(
        &self,
        id: &str,
        nonce: &Secret<String>,
    ) -> Result<(), ProviderError> {
        let question = held(self.on("start", Method::Post, id, Some("start")), nonce);
        self.ask(question, id, Effect::Changes).await.map(drop)
    }

    pub(super) async fn stop(&self, id: &str, nonce: &Secret<String>) -> Result<(), ProviderError> {
        let question = held(self.on("stop", Method::Post, id, Some("stop")), nonce);
        self.ask(question, id, Effect::Changes).await.map(drop)
    }

    pub(super) async fn destroy(
        &self,
        id: &str,
        nonce: Option<&Secret<String>>,
    ) -> Result<(), ProviderError> {
        let question = self.on("destroy", Method::Delete, id, None).with("force", "true");
        let question = match nonce {
            Some(nonce) => held(question, nonce),
            None => question,
        };
        self.ask(question, id, Effect::Changes).await.map(drop)
    }

    /// Waits for a state of one run, and tells nothing: look afterwards.
    pub(super) async fn wait(
        &self,
        id: &str,
        state: &str,
        run: Option<&str>,
        limit: Duration,
    ) -> Result<(), ProviderError> {
        let limit = Duration::from_secs(limit.min(MAX_WAIT).as_secs().max(1));
        let mut question = self.on("wait", Method::Get, id, Some("wait"));
        question = question.with("state", state).with("timeout", limit.as_secs().to_string());
        if let Some(run) = run {
            question = question.with("instance_id", run);
        }
        question.extra_time = limit;
        match self.answer(question, id).await {
            // It is in another state, or of another run: looking tells.
            Ok(answer) if matches!(answer.status, 200..=299 | 404 | 408) => Ok(()),
            Ok(answer) => Err(refusal::read(&answer, Effect::Reads)),
            Err(error) => Err(error),
        }
    }

    /// Takes a machine, for so long. What we hold already is kept on: whoever took it did not live to hear so, or
    /// to give it back.
    pub(super) async fn lease(
        &self,
        machine: &Machine,
        time: Duration,
    ) -> Result<Secret<String>, ProviderError> {
        let refused = match self.take(machine, time, None).await {
            Err(refused) if refused.is_held() => refused,
            taken => return taken,
        };
        match self.holder(machine).await? {
            Holder::Us(nonce) => self.take(machine, time, Some(&nonce)).await,
            Holder::Nobody => self.take(machine, time, None).await,
            Holder::Another => Err(refused),
        }
    }

    async fn take(
        &self,
        machine: &Machine,
        time: Duration,
        nonce: Option<&Secret<String>>,
    ) -> Result<Secret<String>, ProviderError> {
        let id = machine.id.as_str();
        let mut question = self.on("lease", Method::Post, id, Some("lease"));
        question = question.body(json!({ "ttl": time.as_secs(), "description": sign(machine) }));
        if let Some(nonce) = nonce {
            question = held(question, nonce);
        }
        let answer = self.ask(question, id, Effect::Changes).await?;
        let told: ToldLease = api::json(&answer.body)?;
        told.nonce()
            .ok_or_else(|| ProviderError::Unreachable("it gave a lease without a nonce".to_owned()))
    }

    /// Who holds a machine.
    pub(super) async fn holder(&self, machine: &Machine) -> Result<Holder, ProviderError> {
        let id = machine.id.as_str();
        let answer = self.answer(self.on("holder", Method::Get, id, Some("lease")), id).await?;
        match answer.status {
            200..=299 => Ok(api::json::<ToldLease>(&answer.body)?.holder(&sign(machine))),
            404 => Ok(Holder::Nobody),
            _ => Err(refusal::read(&answer, Effect::Reads)),
        }
    }

    /// Gives a machine back. Without it the lease ends in its time.
    pub(super) async fn release(&self, id: &str, nonce: &Secret<String>) {
        let question = held(self.on("release", Method::Delete, id, Some("lease")), nonce);
        if let Err(error) = self.ask(question, id, Effect::Changes).await {
            tracing::debug!(event = "fly_lease_kept", %error, "a lease ends in its time");
        }
    }

    async fn ask(
        &self,
        question: Question,
        thing: &str,
        effect: Effect,
    ) -> Result<WebAnswer, ProviderError> {
        let answer = match effect {
            Effect::Reads => self.answer(question, thing).await?,
            Effect::Changes | Effect::Makes => {
                self.turn(&question, thing).await?;
                self.api.ask(&question).await.map_err(Trouble::harmful)?
            }
        };
        if answer.is_success() {
            return Ok(answer);
        }
        match refusal::read(&answer, effect) {
            // A wrong app, or a token of somebody else, has no such machine either.
            ProviderError::Gone(detail) if !thing.is_empty() => {
                Err(self.ground.missing(detail, self.app_trouble()).await)
            }
            refused => Err(refused),
        }
    }

    /// Why nothing can be said of a machine of the app.
    async fn app_trouble(&self) -> Option<ProviderError> {
        let question = Question::get("list", self.machines());
        let question = question.with(format!("metadata.{WORKER}"), NOBODY);
        match self.answer(question, "").await {
            Ok(answer) if answer.is_success() => None,
            Ok(answer) => Some(no_app(refusal::read(&answer, Effect::Reads))),
            Err(error) => Some(error),
        }
    }

    async fn answer(&self, question: Question, thing: &str) -> Result<WebAnswer, ProviderError> {
        self.turn(&question, thing).await?;
        self.api.ask(&question).await.map_err(Trouble::harmless)
    }

    async fn turn(&self, question: &Question, thing: &str) -> Result<(), ProviderError> {
        let rate = if question.action == "get" { &self.reads } else { &self.actions };
        self.paces.turn(|| (question.action, thing.to_owned()), rate).await
    }

    fn machines(&self) -> Vec<String> {
        ["v1", "apps", &self.app, "machines"].map(ToOwned::to_owned).to_vec()
    }

    fn on(&self, action: &'static str, method: Method, id: &str, what: Option<&str>) -> Question {
        let mut path = self.machines();
        path.push(id.to_owned());
        path.extend(what.map(ToOwned::to_owned));
        Question::new(action, method, path)
    }
}

impl std::fmt::Debug for Calls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Calls").field("app", &self.app).finish_non_exhaustive()
    }
}

fn held(mut question: Question, nonce: &Secret<String>) -> Question {
    question.headers.push((NONCE, nonce.clone()));
    question
}

/// What is missing is the app, and no machine.
fn no_app(error: ProviderError) -> ProviderError {
    match error {
        ProviderError::Gone(detail) => ProviderError::Invalid(format!("{detail}; check FLY_APP")),
        other => other,
    }
}
