//! What an answer means. Pure.

use mainstay_outbound::FetchErrorKind;
use mainstay_poller::Outcome;
use serde_json::Value;

use crate::bounds::MAX_MESSAGE;
use crate::compare::holds;
use crate::courier::{Answer, SendError};
use crate::document::TooLarge;
use crate::mask::Mask;
use crate::model::{Act, Condition, Rule, StatusSet};
use crate::path::Path;
use crate::scope::{Context, Face, Scope};
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
        let context = scope.context(Face::Real);
        let ready = rules.iter().map(|rule| {
            let conditions = rule.conditions.iter();
            let conditions = conditions.map(|condition| ready(condition, &context));
            let conditions = conditions.collect::<Result<_, _>>()?;
            Ok(Ready { conditions, act: rule.act.clone() })
        });
        let rules = ready.collect::<Result<_, TemplateError>>()?;
        drop(context);
        Ok(Self { rules, scope, last: None })
    }

    /// Whether a rule says of this failure that polling goes on.
    pub(super) fn goes_on_after(&self, kind: FetchErrorKind) -> bool {
        let speaks = |condition: &ReadyCondition| {
            let kinds = condition.error.as_ref();
            kinds
                .is_some_and(|kinds| kinds.is_empty() || kinds.iter().any(|one| one == kind.name()))
        };
        let mut rules = self.rules.iter();
        let rule = rules.find(|rule| rule.conditions.iter().any(speaks));
        rule.is_some_and(|rule| matches!(rule.act, Act::Continue | Act::Inject { .. }))
    }

    /// What the first rule that fits says, in the names of events.
    pub(super) fn decide(
        &mut self,
        result: &Result<Answer, SendError>,
        mask: impl FnOnce() -> Mask,
    ) -> Outcome<String> {
        let mut fitting = None;
        for rule in &self.rules {
            match rule.fits(result) {
                Ok(true) => {
                    fitting = Some(rule);
                    break;
                }
                Ok(false) => {}
                Err(error) => return Outcome::error(format!("no rule can be chosen: {error}")),
            }
        }
        let Some(rule) = fitting else { return unruled(result) };
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
                let json = result.as_ref().ok().and_then(|answer| answer.json.as_ref().ok());
                let mask = mask();
                let context = self.scope.with_answer(Face::Shown, json, Some(&mask));
                let told = reason.text(&context).unwrap_or_else(|error| error.to_string());
                Outcome::error(cut(&told, MAX_MESSAGE))
            }
        }
    }
}

impl Ready {
    /// A rule without conditions fits every answer; that there is none, a rule has to say.
    fn fits(&self, result: &Result<Answer, SendError>) -> Result<bool, TooLarge> {
        if self.conditions.is_empty() {
            return Ok(result.is_ok());
        }
        any(&self.conditions, |condition| condition.holds(result))
    }
}

impl ReadyCondition {
    fn holds(&self, result: &Result<Answer, SendError>) -> Result<bool, TooLarge> {
        Ok(match (result, &self.error) {
            (Ok(answer), None) => return self.holds_for(answer),
            (Err(error), Some(kinds)) => {
                kinds.is_empty() || kinds.iter().any(|kind| kind == error.kind())
            }
            _ => false,
        })
    }

    fn holds_for(&self, answer: &Answer) -> Result<bool, TooLarge> {
        if self.status.as_ref().is_some_and(|set| !set.holds(answer.status)) {
            return Ok(false);
        }
        let is_missing = |(path, expected): &(Path, Value)| {
            let Ok(json) = &answer.json else { return Ok(true) };
            let found = path.query(json)?;
            Ok(!found.iter().any(|found| holds(expected, found)))
        };
        any(&self.values, is_missing).map(|is_missing| !is_missing)
    }
}

/// Whether it is so for one of them, as far as it can be told.
fn any<T>(
    all: &[T],
    mut is_so: impl FnMut(&T) -> Result<bool, TooLarge>,
) -> Result<bool, TooLarge> {
    for one in all {
        if is_so(one)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn ready(condition: &Condition, context: &Context<'_>) -> Result<ReadyCondition, TemplateError> {
    let values = condition.values.iter();
    let values = values.map(|(path, value)| Ok((path.clone(), value.value(context)?)));
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
            let kind = answer.json.as_ref().map_or_else(ToString::to_string, |_| "JSON".to_owned());
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
    use mainstay_outbound::FetchError;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn decide(rules: &[Rule], kind: FetchErrorKind) -> Outcome<String> {
        let scope = Scope::new(BTreeMap::new(), Arc::new(Secrets::new()));
        let error = SendError::Fetch(FetchError::new(kind, "it hung"));
        Rules::new(rules, scope).unwrap().decide(&Err(error), Mask::default)
    }

    #[test]
    fn a_failure_is_expected_where_the_first_rule_that_speaks_of_it_goes_on() {
        let rule = |kinds: &[FetchErrorKind], act: Act| {
            let error = Some(kinds.iter().map(|kind| kind.name().to_owned()).collect());
            Rule { conditions: vec![Condition { status: None, error, values: Vec::new() }], act }
        };
        let scope = Scope::new(BTreeMap::new(), Arc::new(Secrets::new()));
        let tls = FetchErrorKind::Tls;
        let all = [rule(&[tls], Act::Done { emit: Vec::new() }), rule(&[], Act::Continue)];
        let rules = Rules::new(&all, scope).unwrap();
        assert!(rules.goes_on_after(FetchErrorKind::ConnectRefused));
        assert!(!rules.goes_on_after(tls));
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
