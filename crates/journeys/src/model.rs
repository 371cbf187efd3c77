//! What a journey is once its file is found right: every name known, every template and path read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::path::Path;
use crate::template::{JsonTemplate, Template};

/// A scripted path through a real system.
#[derive(Debug, Clone)]
pub struct Journey {
    /// Its name.
    pub name: String,
    /// How often it runs on a schedule; without it only when it is asked to.
    pub every: Option<Duration>,
    /// How long a whole run may take.
    pub within: Duration,
    /// Values that templates use. `null` is one that has to be given for each run.
    pub vars: BTreeMap<String, Value>,
    /// What a failure means.
    pub mode: Mode,
    /// The services that it crosses, by name: its failure shows on them.
    pub touches: Vec<String>,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// The secrets that its templates name.
    pub secrets: BTreeSet<String>,
}

impl Journey {
    /// The variables that have to be given for each run.
    #[must_use]
    pub fn missing_vars(&self) -> Vec<String> {
        let missing = self.vars.iter().filter(|(_, value)| value.is_null());
        missing.map(|(name, _)| name.clone()).collect()
    }
}

/// What a failure means.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema, ToSchema,
)]
#[serde(rename_all = "snake_case")]
#[schema(as = JourneyMode)]
pub enum Mode {
    /// The first failure ends the run.
    #[default]
    Halt,
    /// The run goes on, and every failure is reported at its end.
    Record,
    /// The run goes on, and failures are only warnings.
    Log,
    /// Failures are ignored.
    Disabled,
}

/// One thing that is done.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its name, by which others speak of it.
    pub id: String,
    /// The events that it waits for.
    pub needs: Vec<Need>,
    /// What is sent.
    pub request: Request,
    /// What the answer must be.
    pub expect: Expect,
    /// What is kept of the answer.
    pub captures: Vec<Capture>,
    /// The events that it tells when all is as expected.
    pub emit: Vec<String>,
    /// What is watched in the background afterwards.
    pub poll: Option<Poll>,
}

/// An event of an earlier step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Need {
    /// Whose.
    pub step: String,
    /// Which.
    pub event: String,
}

/// A request as it is written.
#[derive(Debug, Clone)]
pub struct Request {
    /// How to ask.
    pub method: Method,
    /// Whom and for what.
    pub url: Template,
    /// What is sent along.
    pub headers: Vec<(String, Template)>,
    /// What is sent.
    pub body: Body,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether redirects are followed; otherwise they are the answer.
    pub follow: bool,
}

/// How to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET.
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
    /// DELETE.
    Delete,
}

/// What is sent.
#[derive(Debug, Clone)]
pub enum Body {
    /// Nothing.
    Empty,
    /// JSON.
    Json(JsonTemplate),
    /// Fields of a form.
    Form(Vec<(String, Template)>),
    /// Any text.
    Text(Template),
}

/// What an answer must be.
#[derive(Debug, Clone)]
pub struct Expect {
    /// Its status.
    pub status: StatusSet,
    /// What its JSON must hold, among other things.
    pub json: Vec<(Path, JsonTemplate)>,
    /// Headers that it must have, with these values.
    pub headers: Vec<(String, Template)>,
    /// Texts that its body must contain.
    pub body_contains: Vec<Template>,
    /// How long it may take.
    pub within: Option<Duration>,
}

/// Statuses of HTTP: single ones, and whole classes such as `2xx`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusSet {
    pub(crate) ranges: Vec<(u16, u16)>,
}

/// What is kept of an answer.
#[derive(Debug, Clone)]
pub struct Capture {
    /// The variable that it becomes.
    pub name: String,
    /// Where it stands.
    pub path: Path,
    /// Whether it is never shown.
    pub is_secret: bool,
}

/// What is watched in the background.
#[derive(Debug, Clone)]
pub struct Poll {
    /// What is asked each time.
    pub request: Request,
    /// The pause between two polls.
    pub every: Duration,
    /// The hard deadline.
    pub within: Duration,
    /// How often it is asked at most.
    pub max_polls: Option<u64>,
    /// How many transport errors in a row are passed over.
    pub tolerate: u32,
    /// What a resource means that did not settle.
    pub on_timeout: OnTimeout,
    /// What an answer means: the first rule that fits it says.
    pub rules: Vec<Rule>,
}

/// What a resource means that did not settle in time.
#[derive(Debug, Clone)]
pub enum OnTimeout {
    /// A failure.
    Fail,
    /// Nothing.
    Ignore,
    /// A failure with these words.
    Error(Template),
}

/// What an answer means.
#[derive(Debug, Clone)]
pub struct Rule {
    /// It fits an answer that one of these holds for; without any it fits every answer.
    pub conditions: Vec<Condition>,
    /// What is done then.
    pub act: Act,
}

/// Holds for an answer when all of its parts do.
#[derive(Debug, Clone)]
pub struct Condition {
    /// The status is one of these.
    pub status: Option<StatusSet>,
    /// There is no answer, for one of these reasons; without any of them, whatever the reason.
    pub error: Option<Vec<String>>,
    /// What stands in its JSON.
    pub values: Vec<(Path, JsonTemplate)>,
}

/// What is done about an answer.
#[derive(Debug, Clone)]
pub enum Act {
    /// Poll on.
    Continue,
    /// Tell these events and poll on.
    Inject {
        /// The events.
        emit: Vec<String>,
        /// Only where they differ from those told last.
        once: bool,
    },
    /// Tell these events: the resource has settled.
    Done {
        /// The events, if any.
        emit: Vec<String>,
    },
    /// The resource will never be as it should.
    Error {
        /// Why.
        reason: Template,
    },
}

impl Journey {
    /// Where a step stands among the others.
    #[must_use]
    pub fn position(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Halt, Self::Record, Self::Log, Self::Disabled];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Halt => "halt",
            Self::Record => "record",
            Self::Log => "log",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A word that is no mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such mode; there are halt, record, log and disabled")]
pub struct NoMode;

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        Self::ALL.into_iter().find(|mode| mode.name() == text).ok_or(NoMode)
    }
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// As it is sent.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether asking again changes nothing, so that redirects can be followed.
    #[must_use]
    pub const fn is_safe(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}

impl StatusSet {
    /// Every status of success.
    #[must_use]
    pub fn success() -> Self {
        Self { ranges: vec![(200, 299)] }
    }

    /// Whether it holds this status.
    #[must_use]
    pub fn holds(&self, status: u16) -> bool {
        self.ranges.iter().any(|(from, to)| (*from..=*to).contains(&status))
    }
}

/// As a person writes it: `201`, `2xx`, `200 or 404`.
impl fmt::Display for StatusSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(from, to): &(u16, u16)| match from == to {
            true => from.to_string(),
            false => format!("{}xx", from / 100),
        };
        let all: Vec<String> = self.ranges.iter().map(shown).collect();
        formatter.write_str(&all.join(" or "))
    }
}

/// As the file writes it: `create.Approved`.
impl fmt::Display for Need {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.step, self.event)
    }
}
