//! What an answer means. Pure.

use mainstay_poller::Outcome;
use serde_json::Value;

use crate::bounds::MAX_MESSAGE;
use crate::compare::holds;
use crate::courier::{Answer, SendError};
use crate::model::{Act, Condition, Rule, StatusSet};
use crate::path::Path;
use crate::scope::{Face, Scope};
use crate::template::TemplateError;
use crate::text::cut;

/// Rules with everything filled in that is known when the poller starts.
pub(super) struct Rules {
    rules: Vec<Ready>,
    scope: Scope,
    /// The events that were injected last.
    last: Option<Vec<String>>,
}

struct Ready {
    conditions: Vec<ReadyCondition>,
    act: Act,
}

struct ReadyCondition {
    status: Option<StatusSet>,
    error: Option<Vec<String>>,
    values: Vec<(Path, Value)>,
}

impl Rules {
    pub(super) fn new(rules: &[Rule], scope: Scope) -> Result<Self, TemplateError> {
        let ready = rules.iter().map(|rule| {
            let conditions = rule.conditions.iter();
            let conditions = conditions.map(|condition| ready(condition, &scope));
            let conditions = conditions.collect::<Result<_, _>>()?;
            Ok(Ready { conditions, act: rule.act.clone() })
        });
        let rules = ready.collect::<Result<_, TemplateError>>()?;
        Ok(Self { rules, scope, last: None })
    }

    /// What the first rule that fits says, in the names of events.
    pub(super) fn decide(&mut self, result: &Result<Answer, SendError>) -> Outcome<String> {
        let Some(rule) = self.rules.iter().find(|rule| rule.fits(result)) else {
            return unruled(result);
        };
        match &rule.act {
            Act::Continue => Outcome::Continue,
            Act::Inject { emit, once } => {
                if *once && self.last.as_ref() == Some(emit) {
                    return Outcome::Continue;
                }
                self.last = Some(emit.clone());
                Outcome::Inject(emit.clone())
            }
            Act::Done { emit } => Outcome::Done(emit.clone()),
            Act::Error { reason } => {
                let json = result.as_ref().ok().and_then(|answer| answer.json.as_ref());
                let context = self.scope.with_answer(Face::Shown, json);
                let told = reason.text(&context).unwrap_or_else(|error| error.to_string());
                Outcome::error(cut(&told, MAX_MESSAGE))
            }
        }
    }
}

impl Ready {
    /// A rule without conditions fits every answer; that there is none, a rule has to say.
    fn fits(&self, result: &Result<Answer, SendError>) -> bool {
        if self.conditions.is_empty() {
            return result.is_ok();
        }
        self.conditions.iter().any(|condition| condition.holds(result))
    }
}

impl ReadyCondition {
    fn holds(&self, result: &Result<Answer, SendError>) -> bool {
        match (result, &self.error) {
            (Ok(answer), None) => self.holds_for(answer),
            (Err(error), Some(kinds)) => {
                kinds.is_empty() || kinds.iter().any(|kind| kind == error.kind())
            }
            _ => false,
        }
    }

    fn holds_for(&self, answer: &Answer) -> bool {
        let is_there = |(path, expected): &(Path, Value)| {
            let found = answer.json.as_ref().map(|json| path.query(json)).unwrap_or_default();
            found.iter().any(|found| holds(expected, found))
        };
        self.status.as_ref().is_none_or(|set| set.holds(answer.status))
            && self.values.iter().all(is_there)
    }
}

fn ready(condition: &Condition, scope: &Scope) -> Result<ReadyCondition, TemplateError> {
    let context = scope.context(Face::Real);
    let values = condition.values.iter();
    let values = values.map(|(path, value)| Ok((path.clone(), value.value(&context)?)));
    Ok(ReadyCondition {
        status: condition.status.clone(),
        error: condition.error.clone(),
        values: values.collect::<Result<_, TemplateError>>()?,
    })
}

/// A poll that took too long is dropped, as the poller itself drops one: `within` is what ends the polling.
fn unruled(result: &Result<Answer, SendError>) -> Outcome<String> {
    match result {
        Err(error) if error.is_late() => Outcome::Continue,
        result => Outcome::error(unfitting(result)),
    }
}

fn unfitting(result: &Result<Answer, SendError>) -> String {
    const MAX_BODY: usize = 200;
    match result {
        Ok(answer) => {
            let kind = if answer.json.is_some() { "JSON" } else { "no JSON" };
            let body = cut(&answer.text(), MAX_BODY);
            format!("no rule fits the answer: status {}, {kind}: {body}", answer.status)
        }
        Err(error) => format!("no rule fits this failure ({}): {error}", error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Secrets;
    use mainstay_outbound::{FetchError, FetchErrorKind};
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn decide(rules: &[Rule], kind: FetchErrorKind) -> Outcome<String> {
        let scope = Scope::new(BTreeMap::new(), Arc::new(Secrets::new()));
        let error = SendError::Fetch(FetchError::new(kind, "it hung"));
        Rules::new(rules, scope).unwrap().decide(&Err(error))
    }

    #[test]
    fn a_request_that_took_too_long_is_a_dropped_poll_unless_a_rule_says_otherwise() {
        for kind in [FetchErrorKind::Timeout, FetchErrorKind::ConnectTimeout] {
            assert!(matches!(decide(&[], kind), Outcome::Continue), "{kind:?}");
            let error = Some(vec![kind.name().to_owned()]);
            let condition = Condition { status: None, error, values: Vec::new() };
            let act = Act::Done { emit: vec!["Hung".to_owned()] };
            let rule = Rule { conditions: vec![condition], act };
            assert!(matches!(decide(&[rule], kind), Outcome::Done(_)), "{kind:?}");
        }
        let refused = decide(&[], FetchErrorKind::ConnectRefused);
        assert!(matches!(refused, Outcome::Error(_)), "{refused:?}");
    }
}
