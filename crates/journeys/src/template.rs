//! Texts with `{{ … }}` in them. What stands in there is an expression of minijinja, in which a JSONPath
//! such as `$.id` stands for a value of the answer.
//!
//! There are no blocks, and few filters: whoever may write a journey must not be able to fill the
//! memory of the server with a line of text. What an expression makes is bounded by what it may name and
//! by how deep it may be, and what becomes long all the same is refused before it is used.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::{Environment, Expression, UndefinedBehavior};
use serde_json::Value;

pub use crate::bad_template::BadTemplate;
use crate::bounds::{
    EXPRESSION_FUEL, MAX_EXPRESSION, MAX_EXPRESSION_DEPTH, MAX_EXPRESSION_NAMES, MAX_RENDERED,
    MAX_TEMPLATE, MAX_VALUE,
};
use crate::expression::{self, FILTERS, TESTS};
use crate::filters::{self, Unwritten};
pub use crate::json_template::JsonTemplate;
use crate::path::{Path, extent, outside_quotes};
use crate::scope::Context;

/// A text with expressions.
#[derive(Debug, Clone)]
pub struct Template {
    source: Arc<str>,
    parts: Arc<[Part]>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Compiled(Compiled),
}

struct Compiled {
    /// As it was written.
    source: String,
    expression: Expression<'static, 'static>,
    paths: Vec<Path>,
    /// Whether what it names stands in what it makes, so that a secret is known again.
    keeps_values: bool,
    /// How often it goes over its values at most.
    operations: u64,
    /// All that it is filled in from.
    named: Vec<Named>,
}

/// A template that could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    message: String,
}

/// What an expression names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    /// A variable.
    Variable(String),
    /// A secret by its name.
    Secret(String),
    /// A part of how a poll timed out; empty where it is the whole.
    Timeout(String),
    /// All secrets together.
    AllSecrets,
    /// A part of the answer.
    Answer,
}

const PATH_VARIABLE: &str = "mainstay_path_";
pub(crate) const SECRET: &str = "secret";
pub(crate) const TIMEOUT: &str = "timeout";

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);

/// Nothing that makes much out of little: no replace, no repetition, no joins. The filters of minijinja
/// that are here make at most three bytes of one, whatever they are told.
fn environment() -> Environment<'static> {
    use minijinja::{filters as theirs, tests};
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(EXPRESSION_FUEL));
    environment.add_filter("default", theirs::default);
    environment.add_filter("first", theirs::first);
    environment.add_filter("float", theirs::float);
    environment.add_filter("int", theirs::int);
    environment.add_filter("last", theirs::last);
    environment.add_filter("length", theirs::length);
    environment.add_filter("lower", theirs::lower);
    environment.add_filter("round", theirs::round);
    environment.add_filter("string", filters::string);
    environment.add_filter("tojson", filters::tojson);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("upper", theirs::upper);
    environment.add_filter("urlencode", filters::urlencode);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("none", tests::is_none);
    environment
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// [`BadTemplate`] says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, BadTemplate> {
        if text.len() > MAX_TEMPLATE {
            return Err(BadTemplate::TooLong);
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            plain(before, &mut parts)?;
            let length = expression_end(after).ok_or(BadTemplate::Open)?;
            let (inside, behind) = after.split_at_checked(length).ok_or(BadTemplate::Open)?;
            parts.push(Part::Compiled(Compiled::parse(inside.trim())?));
            rest = behind.strip_prefix("}}").unwrap_or(behind);
        }
        plain(rest, &mut parts)?;
        Ok(Self { source: text.into(), parts: parts.into() })
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether there is anything to fill in.
    pub(crate) fn is_plain(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// What its expressions name.
    pub(crate) fn named(&self) -> BTreeSet<Named> {
        self.compiled().flat_map(|compiled| compiled.named.iter().cloned()).collect()
    }

    /// The first expression that makes something else of a value which must not be shown.
    pub(crate) fn changing(&self, is_hidden: impl Fn(&Named) -> bool) -> Option<&str> {
        let mut changing = self.compiled().filter(|compiled| !compiled.keeps_values);
        changing
            .find(|compiled| compiled.named.iter().any(&is_hidden))
            .map(|compiled| compiled.source.as_str())
    }

    /// Its text without its expressions.
    pub(crate) fn around(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Compiled(_) => None,
        });
        texts.collect()
    }

    fn compiled(&self) -> impl Iterator<Item = &Compiled> {
        self.parts.iter().filter_map(|part| match part {
            Part::Compiled(compiled) => Some(compiled),
            Part::Text(_) => None,
        })
    }

    /// The text with everything filled in.
    pub(crate) fn text(&self, context: &Context<'_>) -> Result<String, TemplateError> {
        let mut text = String::new();
        for part in self.parts.iter() {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Compiled(compiled) => match compiled.value(context)? {
                    Value::Null => return Err(compiled.empty()),
                    value => text.push_str(&shown(&value)),
                },
            }
            if text.len() > MAX_RENDERED {
                return Err(too_long());
            }
        }
        Ok(text)
    }

    /// The value: that of its expression where it is nothing but one, a text otherwise.
    pub(crate) fn value(&self, context: &Context<'_>) -> Result<Value, TemplateError> {
        match self.parts.as_ref() {
            [Part::Compiled(compiled)] => compiled.value(context),
            _ => self.text(context).map(Value::String),
        }
    }
}

impl Compiled {
    fn parse(source: &str) -> Result<Self, BadTemplate> {
        if source.len() > MAX_EXPRESSION {
            return Err(BadTemplate::ExpressionTooLong);
        }
        let (rewritten, paths) = without_paths(source)?;
        check_extent(source, &rewritten)?;
        if outside_quotes(&rewritten).any(|(_, letter)| letter == '*') {
            return Err(BadTemplate::Multiplied(source.to_owned()));
        }
        let plain = rewritten.clone();
        let expression = ENVIRONMENT.compile_expression_owned(rewritten).map_err(|error| {
            let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            BadTemplate::Expression { expression: source.to_owned(), message }
        })?;
        Self::check_words(source, "filter", &expression::filters(&plain), &FILTERS)?;
        Self::check_words(source, "test", &expression::tests(&plain), &TESTS)?;
        if let Some(name) = expression::untaking(&plain) {
            return Err(BadTemplate::Argument { expression: source.to_owned(), name });
        }
        let keeps_values = expression::keeps_values(&plain);
        let operations = expression::operations(&plain);
        let named = named(&expression);
        let source = source.to_owned();
        Ok(Self { source, expression, paths, keeps_values, operations, named })
    }

    /// A filter or a test is looked for only when it is run: that is too late.
    fn check_words(
        source: &str,
        what: &'static str,
        names: &[String],
        known: &'static [&'static str],
    ) -> Result<(), BadTemplate> {
        let unknown = names.iter().find(|name| !known.contains(&name.as_str()));
        let expression = source.to_owned();
        unknown.map_or(Ok(()), |name| {
            Err(BadTemplate::Unknown { expression, what, name: name.clone(), known })
        })
    }

    fn value(&self, context: &Context<'_>) -> Result<Value, TemplateError> {
        if !self.keeps_values && context.has_secret(&self.named) {
            return Err(self.changed());
        }
        let mut filling = context.filling(&self.named);
        for (index, path) in self.paths.iter().enumerate() {
            let found = context.answer().map(|answer| path.only(answer));
            let found = found.transpose().map_err(|error| self.unfilled(&error.to_string()))?;
            let Some(found) = found.flatten() else { continue };
            check_length(found, path)?;
            let masked = context.masked(found);
            if masked.is_some() && !self.keeps_values {
                return Err(self.changed());
            }
            filling.add_found(&path_variable(index), masked.as_ref().unwrap_or(found));
        }
        if !context.go_over(filling.bytes.saturating_mul(self.operations)) {
            return Err(self.unfilled(
                "what is filled in all in all is too much; use fewer or shorter values",
            ));
        }
        let evaluated = self.expression.eval(minijinja::Value::from(filling.values));
        let value = evaluated.map_err(|error| self.failed(&error, context))?;
        if value.is_undefined() {
            return Err(self.missing(context));
        }
        self.json(&value)
    }

    /// A value has a secret in it, which nobody knew before.
    fn changed(&self) -> TemplateError {
        TemplateError { message: changes_a_secret(&self.source) }
    }

    /// Its length is looked at first: a list of many long ones is short as long as it only points to them.
    fn json(&self, value: &minijinja::Value) -> Result<Value, TemplateError> {
        let unsendable = || TemplateError {
            message: format!("{{{{ {} }}}} gives nothing that could be sent", self.source),
        };
        match filters::json(value) {
            Ok(_) => serde_json::to_value(value).map_err(|_| unsendable()),
            Err(Unwritten::TooLong) => Err(too_long()),
            Err(Unwritten::Other) => Err(unsendable()),
        }
    }

    fn failed(&self, error: &minijinja::Error, context: &Context<'_>) -> TemplateError {
        if error.kind() == minijinja::ErrorKind::UndefinedError {
            return self.missing(context);
        }
        self.unfilled(&error.detail().map_or_else(|| error.kind().to_string(), str::to_owned))
    }

    /// `null` in the middle of a text would be sent as a word.
    fn empty(&self) -> TemplateError {
        self.unfilled("it is null, and a text can't hold that")
    }

    fn unfilled(&self, why: &str) -> TemplateError {
        TemplateError { message: format!("{{{{ {} }}}} can't be filled in: {why}", self.source) }
    }

    /// What it names and is not there.
    fn missing(&self, context: &Context<'_>) -> TemplateError {
        let unfound = self.paths.iter().find(|path| match context.answer() {
            Some(answer) => matches!(path.only(answer), Ok(None)),
            None => true,
        });
        let why = match unfound {
            Some(path) => format!("{path} matches nothing in the answer"),
            None => context.missing(&self.named),
        };
        self.unfilled(&why)
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{{{{ {} }}}}", self.source)
    }
}

/// Before it is compiled: what is nested deeply is told in our words.
fn check_extent(source: &str, rewritten: &str) -> Result<(), BadTemplate> {
    if expression::names(rewritten) > MAX_EXPRESSION_NAMES {
        return Err(BadTemplate::TooManyNames(source.to_owned()));
    }
    if expression::depth(rewritten) > MAX_EXPRESSION_DEPTH {
        return Err(BadTemplate::TooDeep(source.to_owned()));
    }
    if expression::has_slice(rewritten) {
        return Err(BadTemplate::Sliced(source.to_owned()));
    }
    Ok(())
}

fn named(expression: &Expression<'_, '_>) -> Vec<Named> {
    let names = expression.undeclared_variables(true);
    let named = names.into_iter().map(|name| {
        let (root, rest) = name.split_once('.').unwrap_or((&name, ""));
        match root {
            SECRET if rest.is_empty() => Named::AllSecrets,
            SECRET => Named::Secret(rest.to_owned()),
            TIMEOUT => Named::Timeout(rest.to_owned()),
            root if root.starts_with(PATH_VARIABLE) => Named::Answer,
            root => Named::Variable(root.to_owned()),
        }
    });
    named.collect()
}

pub(crate) fn too_long() -> TemplateError {
    TemplateError { message: format!("the text becomes longer than {MAX_RENDERED} bytes") }
}

/// A value as it stands in a text.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn plain(text: &str, parts: &mut Vec<Part>) -> Result<(), BadTemplate> {
    if text.contains("{%") {
        return Err(BadTemplate::Block);
    }
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
    Ok(())
}

/// Where `}}` stands that closes an expression.
fn expression_end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in outside_quotes(text) {
        match letter {
            '{' => depth = depth.saturating_add(1),
            '}' if depth > 0 => depth = depth.saturating_sub(1),
            '}' if text.get(at..).is_some_and(|rest| rest.starts_with("}}")) => return Some(at),
            _ => {}
        }
    }
    None
}

/// The expression with a variable in place of each path.
fn without_paths(source: &str) -> Result<(String, Vec<Path>), BadTemplate> {
    let mut rewritten = String::new();
    let mut paths = Vec::new();
    let mut copied = 0;
    let starts: Vec<usize> =
        outside_quotes(source).filter(|(_, letter)| *letter == '$').map(|(at, _)| at).collect();
    for at in starts {
        if at < copied {
            continue;
        }
        let from = source.get(at..).unwrap_or_default();
        let end = at.saturating_add(extent(from));
        let text = source.get(at..end).unwrap_or_default();
        let path = Path::parse(text)
            .map_err(|error| BadTemplate::Path { expression: source.to_owned(), error })?;
        rewritten.push_str(source.get(copied..at).unwrap_or_default());
        rewritten.push_str(&path_variable(paths.len()));
        paths.push(path);
        copied = end;
    }
    rewritten.push_str(source.get(copied..).unwrap_or_default());
    Ok((rewritten, paths))
}

fn path_variable(index: usize) -> String {
    format!("{PATH_VARIABLE}{index}")
}

fn check_length(found: &Value, path: &Path) -> Result<(), TemplateError> {
    if found.to_string().len() > MAX_VALUE {
        let message = format!("what stands at {path} is longer than {MAX_VALUE} bytes");
        return Err(TemplateError { message });
    }
    Ok(())
}

/// Why an expression can't be used on a secret.
pub(crate) fn changes_a_secret(expression: &str) -> String {
    format!(
        "{{{{ {expression} }}}} makes something else of a secret, which nobody could hide again; \
         only ~ and the filters urlencode, tojson and string may be used on one"
    )
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
