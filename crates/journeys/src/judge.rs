//! Whether an answer is as expected. Pure.

use std::borrow::Cow;

use serde_json::Value;

use crate::compare::holds;
use crate::courier::Answer;
use crate::document::TooLarge;
use crate::filters;
use crate::model::Expect;
use crate::report::CheckRecord;
use crate::scope::{Face, Scope};
use crate::template::TemplateError;

/// The most of a body that a check shows.
const MAX_SHOWN: usize = 200;

/// The most of a value that a check keeps, in bytes: enough for what a record shows of it once it is masked. Many checks
/// may have found the same large one.
const MAX_GOT: usize = 64 * 1024;

/// Why an answer can't be judged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unjudged {
    /// What was expected could not be filled in.
    #[error("{0}")]
    Template(#[from] TemplateError),
    /// There is too much to look at.
    #[error("{path} can't be looked for: {error}")]
    TooLarge {
        /// What was looked for.
        path: String,
        /// Why.
        error: TooLarge,
    },
}

/// Every check, in the order in which a person would look.
pub(crate) fn judge(
    expect: &Expect,
    answer: &Answer,
    scope: &Scope,
) -> Result<Vec<CheckRecord>, Unjudged> {
    let (real, shown) = (scope.context(Face::Real), scope.context(Face::Shown));
    let mut checks = vec![CheckRecord {
        what: "status".to_owned(),
        is_fine: expect.status.holds(answer.status),
        expected: status(&expect.status.to_string()),
        got: Some(answer.status.into()),
    }];
    for (name, value) in &expect.headers {
        let got = answer.header(name);
        checks.push(CheckRecord {
            what: format!("header {name}"),
            is_fine: got == Some(value.text(&real)?.as_str()),
            expected: value.text(&shown)?.into(),
            got: got.map(Value::from),
        });
    }
    for (path, value) in &expect.json {
        let expected = value.value(&real)?;
        let found = answer.json.as_ref().ok().map(|json| path.query(json)).transpose();
        let found = found.map_err(|error| Unjudged::TooLarge { path: path.to_string(), error })?;
        let found = found.unwrap_or_default();
        checks.push(CheckRecord {
            what: path.to_string(),
            is_fine: found.iter().any(|found| holds(&expected, found)),
            expected: value.value(&shown)?,
            got: got(&found),
        });
    }
    let body = if expect.body_contains.is_empty() { Cow::default() } else { answer.meant() };
    for text in &expect.body_contains {
        let wanted = text.text(&real)?;
        // Every body has an empty text in it: that would say nothing.
        let is_fine = !wanted.is_empty() && body.contains(&wanted);
        let got = (!is_fine).then(|| Value::from(crate::text::cut(&answer.text(), MAX_SHOWN)));
        let expected = text.text(&shown)?.into();
        checks.push(CheckRecord { what: "body_contains".to_owned(), is_fine, expected, got });
    }
    if let Some(within) = expect.within {
        checks.push(CheckRecord {
            what: "within".to_owned(),
            is_fine: answer.latency <= within,
            expected: format!("{within:?}").into(),
            got: Some(format!("{:.1?}", answer.latency).into()),
        });
    }
    Ok(checks)
}

/// What is not as expected, in words.
pub(crate) fn told(check: &CheckRecord, answer: &Answer) -> String {
    let CheckRecord { what, expected, got, .. } = check;
    match got {
        _ if what == "body_contains" && expected == "" => {
            "what the body must contain came out as an empty text, which says nothing".to_owned()
        }
        _ if what == "body_contains" => format!("the body does not contain {expected}"),
        Some(got) => format!("{what}: expected {expected}, got {got}"),
        None => match &answer.json {
            Err(why) if what.starts_with('$') => {
                format!("{what}: expected {expected}, and the answer is {why}")
            }
            _ => format!("{what}: expected {expected}, got nothing"),
        },
    }
}

/// A single status as a number.
fn status(text: &str) -> Value {
    text.parse::<u16>().map_or_else(|_| Value::from(text), Value::from)
}

/// One value as it is, several as a list; the beginning of what is long, as a text.
fn got(found: &[&Value]) -> Option<Value> {
    let kept = |shown: filters::Beginning, whole: &dyn Fn() -> Value| match shown {
        filters::Beginning::Whole => whole(),
        filters::Beginning::Cut(text) => Value::String(text),
    };
    match found {
        [] => None,
        [Value::String(text)] => Some(crate::text::cut(text, MAX_GOT).into()),
        [one] => Some(kept(filters::beginning(one, MAX_GOT), &|| (*one).clone())),
        more => {
            let whole = || more.iter().map(|value| (*value).clone()).collect();
            Some(kept(filters::beginning(&more, MAX_GOT), &whole))
        }
    }
}
