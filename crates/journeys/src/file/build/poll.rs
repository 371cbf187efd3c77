//! Polls and their rules.

use std::collections::BTreeMap;

use mainstay_outbound::FetchErrorKind;
use serde_json::Value;

use super::Site;
use super::names::May;
use crate::bounds::{
    MAX_CONDITIONS, MAX_POLL_EVERY, MAX_POLLS, MAX_RULES, MAX_RUN, MAX_TOLERATED, MIN_POLL_EVERY,
};
use crate::file::forms::{OnTimeoutForm, Statuses};
use crate::file::mistakes::Way;
use crate::file::shape::{DoForm, PollShape, RuleShape};
use crate::model::{Act, Condition, OnTimeout, Poll, Rule};
use crate::path::Path;

impl Site<'_> {
    pub(super) fn poll(&mut self, way: &Way, shape: &PollShape) -> Option<Poll> {
        let request = self.request(way, &shape.request());
        let every = self.span(&way.key("every"), shape.every, MIN_POLL_EVERY, MAX_POLL_EVERY);
        let within = self.span(&way.key("within"), shape.within, MIN_POLL_EVERY, MAX_RUN);
        if shape.max_polls.is_some_and(|polls| !(1..=MAX_POLLS).contains(&polls)) {
            self.mistakes.add(&way.key("max_polls"), format!("give from 1 to {MAX_POLLS}"));
        }
        let tolerate = shape.tolerate.unwrap_or(0);
        if tolerate > MAX_TOLERATED {
            self.mistakes.add(&way.key("tolerate"), format!("give from 0 to {MAX_TOLERATED}"));
        }
        let on_timeout = self.on_timeout(&way.key("on_timeout"), shape.on_timeout.as_ref());
        let rules = self.rules(&way.key("when"), &shape.when);
        Some(Poll {
            request: request?,
            every: every?,
            within: within?,
            max_polls: shape.max_polls,
            tolerate,
            on_timeout: on_timeout?,
            rules: rules?,
        })
    }

    fn on_timeout(&mut self, way: &Way, form: Option<&OnTimeoutForm>) -> Option<OnTimeout> {
        Some(match form {
            None | Some(OnTimeoutForm::Fail) => OnTimeout::Fail,
            Some(OnTimeoutForm::Ignore) => OnTimeout::Ignore,
            Some(OnTimeoutForm::Error(text)) => {
                OnTimeout::Error(self.template(&way.key("error"), text, May::Timeout)?)
            }
        })
    }

    fn rules(&mut self, way: &Way, shapes: &[RuleShape]) -> Option<Vec<Rule>> {
        if shapes.is_empty() {
            self.mistakes.add(way, "there are no rules; say at least what is done");
        }
        self.mistakes.at_most(way, shapes.len(), MAX_RULES, "rules");
        let mut rules = Vec::new();
        for (index, shape) in shapes.iter().take(MAX_RULES).enumerate() {
            let way = way.index(index);
            if index.saturating_add(1) < shapes.len() && shape.conditions.is_none() {
                self.mistakes.add(&way, "it fits every answer, so that no rule behind it is reached; give it an `if`, or put it last");
            }
            let conditions = self.conditions(&way.key("if"), shape);
            let act = self.act(&way, shape);
            rules.push(conditions.zip(act).map(|(conditions, act)| Rule { conditions, act }));
        }
        if shapes.iter().all(|shape| matches!(shape.act, DoForm::Continue | DoForm::Inject)) {
            self.mistakes.add(way, "no rule ends it; give one with `do: done` or `do: error`");
        }
        rules.into_iter().collect()
    }

    fn conditions(&mut self, way: &Way, shape: &RuleShape) -> Option<Vec<Condition>> {
        let Some(given) = &shape.conditions else { return Some(Vec::new()) };
        self.mistakes.at_most(way, given.0.len(), MAX_CONDITIONS, "conditions");
        if given.0.is_empty() {
            self.mistakes.add(way, "it holds for no answer; leave `if` out, or say when it does");
        }
        let is_list = given.0.len() > 1;
        let read = given.0.iter().enumerate().map(|(index, fields)| {
            let way = if is_list { way.index(index) } else { way.clone() };
            self.condition(&way, fields)
        });
        let read: Vec<_> = read.collect();
        read.into_iter().collect()
    }

    fn condition(&mut self, way: &Way, fields: &BTreeMap<String, Value>) -> Option<Condition> {
        if fields.is_empty() {
            self.mistakes.add(way, "it is empty; give a JSONPath and its value, status or error");
        }
        self.mistakes.at_most(way, fields.len(), MAX_CONDITIONS, "conditions");
        if fields.contains_key("error") && fields.len() > 1 {
            let message = "where there is no answer, nothing else can hold; put `error` into a rule of its own";
            self.mistakes.add(&way.key("error"), message);
        }
        let mut condition = Condition { status: None, error: None, values: Vec::new() };
        for (key, value) in fields {
            let way = way.key(key);
            match key.as_str() {
                "status" => {
                    let statuses = self.mistakes.take(&way, Statuses::of(value));
                    condition.status = Some(statuses?.0);
                }
                "error" => condition.error = Some(self.error_kinds(&way, value)?),
                path if path.starts_with('$') => {
                    let path = self.mistakes.take(&way, Path::parse(path));
                    let value = self.json(&way, value);
                    condition.values.extend(path.zip(value));
                }
                other => {
                    let message = "a condition is a JSONPath such as $.status, `status` or `error`";
                    self.mistakes.unknown(&way, other, ["status", "error"], message);
                }
            }
        }
        Some(condition)
    }

    /// `true`, or kinds of errors.
    fn error_kinds(&mut self, way: &Way, value: &Value) -> Option<Vec<String>> {
        let known = || FetchErrorKind::ALL.iter().map(|kind| kind.name());
        let given: Vec<&Value> = match value {
            Value::Bool(true) => return Some(Vec::new()),
            Value::Array(kinds) if !kinds.is_empty() => kinds.iter().collect(),
            one => vec![one],
        };
        let mut kinds = Vec::new();
        for kind in given {
            match kind.as_str() {
                Some(kind) if known().any(|name| name == kind) => kinds.push(kind.to_owned()),
                kind => {
                    let all: Vec<&str> = known().collect();
                    let message = format!("true is expected, or one of {}", all.join(", "));
                    self.mistakes.unknown(way, kind.unwrap_or_default(), all, message);
                    return None;
                }
            }
        }
        Some(kinds)
    }

    fn act(&mut self, way: &Way, shape: &RuleShape) -> Option<Act> {
        let given = [
            ("emit", shape.emit.is_some(), &[DoForm::Inject, DoForm::Done][..]),
            ("once", shape.once.is_some(), &[DoForm::Inject]),
            ("reason", shape.reason.is_some(), &[DoForm::Error]),
        ];
        for (key, is_given, belongs) in given {
            if is_given && !belongs.contains(&shape.act) {
                self.mistakes.add(
                    &way.key(key),
                    format!("`{key}` has no meaning for what this rule does; leave it out"),
                );
            }
        }
        let emit = self.events(&way.key("emit"), shape.emit.as_ref().map(|emit| &emit.0));
        Some(match shape.act {
            DoForm::Continue => Act::Continue,
            DoForm::Done => Act::Done { emit },
            DoForm::Inject if emit.is_empty() => {
                self.mistakes.add(way, "`emit` is missing: what is injected");
                return None;
            }
            DoForm::Inject => Act::Inject { emit, once: shape.once.unwrap_or(false) },
            DoForm::Error => {
                let reason = shape.reason.as_deref().unwrap_or("the resource failed");
                Act::Error { reason: self.template(&way.key("reason"), reason, May::Answer)? }
            }
        })
    }
}
