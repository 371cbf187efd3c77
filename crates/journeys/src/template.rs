//! Texts with `{{ … }}` in them. What stands in there is an expression of minijinja, in which a JSONPath
//! such as `$.id` stands for a value of the answer.
//!
//! There are no blocks, and few filters: whoever may write a journey must not be able to fill the
//! memory of the server with a line of text.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::{Environment, Expression, UndefinedBehavior};
use serde_json::Value;

use crate::bounds::{EXPRESSION_FUEL, MAX_EXPRESSION, MAX_RENDERED, MAX_TEMPLATE, MAX_VALUE};
use crate::path::{Path, PathError, extent, outside_quotes};
use crate::scope::Context;

/// A text with expressions.
#[derive(Debug, Clone)]
pub struct Template {
    source: Arc<str>,
    parts: Arc<[Part]>,
}

/// JSON with templates in its texts. One that is nothing but an expression keeps the kind of its value.
#[derive(Debug, Clone)]
pub enum JsonTemplate {
    /// A value without templates.
    Fixed(Value),
    /// A text with them.
    Text(Template),
    /// A list.
    List(Vec<Self>),
    /// An object.
    Object(Vec<(String, Self)>),
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
}

/// A template that can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    /// It is too long.
    #[error("the text is longer than {MAX_TEMPLATE} bytes; shorten it")]
    TooLong,
    /// An expression is too long.
    #[error("an expression is longer than {MAX_EXPRESSION} bytes; shorten it")]
    ExpressionTooLong,
    /// `{{` without `}}`.
    #[error(
        "{{{{ has no }}}}; write {{{{ name }}}}, or {{{{ \"{{{{\" }}}} for the two braces themselves"
    )]
    Open,
    /// A block.
    #[error("there are no blocks such as {{% … %}} here, only {{{{ … }}}}")]
    Block,
    /// An operator that multiplies.
    #[error("in {{{{ {0} }}}}: there is no * here")]
    Multiplied(String),
    /// A path in an expression can't be read.
    #[error("in {{{{ {expression} }}}}: {error}")]
    Path {
        /// The expression.
        expression: String,
        /// What is wrong.
        error: PathError,
    },
    /// An expression can't be read.
    #[error("in {{{{ {expression} }}}}: {message}")]
    Expression {
        /// The expression.
        expression: String,
        /// What is wrong.
        message: String,
    },
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
    /// All secrets together.
    AllSecrets,
    /// A part of the answer.
    Answer,
}

const PATH_VARIABLE: &str = "mainstay_path_";
const SECRET: &str = "secret";

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);

/// Nothing that makes much out of little: no replace, no repetition, no joins.
fn environment() -> Environment<'static> {
    use minijinja::{filters, tests};
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(EXPRESSION_FUEL));
    environment.add_filter("default", filters::default);
    environment.add_filter("first", filters::first);
    environment.add_filter("float", filters::float);
    environment.add_filter("int", filters::int);
    environment.add_filter("last", filters::last);
    environment.add_filter("length", filters::length);
    environment.add_filter("lower", filters::lower);
    environment.add_filter("round", filters::round);
    environment.add_filter("string", filters::string);
    environment.add_filter("tojson", filters::tojson);
    environment.add_filter("trim", filters::trim);
    environment.add_filter("upper", filters::upper);
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
        let compiled = self.parts.iter().filter_map(|part| match part {
            Part::Compiled(compiled) => Some(compiled),
            Part::Text(_) => None,
        });
        compiled.flat_map(Compiled::named).collect()
    }

    /// The text with everything filled in.
    pub(crate) fn text(&self, context: &Context<'_>) -> Result<String, TemplateError> {
        let mut text = String::new();
        for part in self.parts.iter() {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Compiled(compiled) => text.push_str(&shown(&compiled.value(context)?)),
            }
            if text.len() > MAX_RENDERED {
                let message = format!("the text becomes longer than {MAX_RENDERED} bytes");
                return Err(TemplateError { message });
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

impl JsonTemplate {
    /// Reads JSON. The way to a text that can't be read is given with what is wrong with it.
    pub(crate) fn parse(value: &Value) -> Result<Self, (Vec<String>, BadTemplate)> {
        match value {
            Value::String(text) => {
                let template = Template::parse(text).map_err(|error| (Vec::new(), error))?;
                Ok(if template.is_plain() {
                    Self::Fixed(value.clone())
                } else {
                    Self::Text(template)
                })
            }
            Value::Array(items) => {
                let parsed = items.iter().enumerate().map(|(index, item)| {
                    Self::parse(item).map_err(|error| deeper(index.to_string(), error))
                });
                parsed.collect::<Result<_, _>>().map(Self::List)
            }
            Value::Object(fields) => {
                let parsed = fields.iter().map(|(key, field)| {
                    let field = Self::parse(field).map_err(|error| deeper(key.clone(), error))?;
                    Ok((key.clone(), field))
                });
                parsed.collect::<Result<_, _>>().map(Self::Object)
            }
            other => Ok(Self::Fixed(other.clone())),
        }
    }

    /// The JSON with everything filled in.
    pub(crate) fn value(&self, context: &Context<'_>) -> Result<Value, TemplateError> {
        Ok(match self {
            Self::Fixed(value) => value.clone(),
            Self::Text(template) => template.value(context)?,
            Self::List(items) => {
                let values = items.iter().map(|item| item.value(context));
                Value::Array(values.collect::<Result<_, _>>()?)
            }
            Self::Object(fields) => {
                let values =
                    fields.iter().map(|(key, field)| Ok((key.clone(), field.value(context)?)));
                Value::Object(values.collect::<Result<_, TemplateError>>()?)
            }
        })
    }
}

impl Compiled {
    fn parse(source: &str) -> Result<Self, BadTemplate> {
        if source.len() > MAX_EXPRESSION {
            return Err(BadTemplate::ExpressionTooLong);
        }
        let (rewritten, paths) = without_paths(source)?;
        if outside_quotes(&rewritten).any(|(_, letter)| letter == '*') {
            return Err(BadTemplate::Multiplied(source.to_owned()));
        }
        let expression = ENVIRONMENT.compile_expression_owned(rewritten).map_err(|error| {
            let message = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
            BadTemplate::Expression { expression: source.to_owned(), message }
        })?;
        Ok(Self { source: source.to_owned(), expression, paths })
    }

    fn named(&self) -> Vec<Named> {
        let names = self.expression.undeclared_variables(true);
        let named = names.into_iter().map(|name| {
            let (root, rest) = name.split_once('.').unwrap_or((&name, ""));
            match root {
                SECRET if rest.is_empty() => Named::AllSecrets,
                SECRET => Named::Secret(rest.to_owned()),
                root if root.starts_with(PATH_VARIABLE) => Named::Answer,
                root => Named::Variable(root.to_owned()),
            }
        });
        named.collect()
    }

    fn value(&self, context: &Context<'_>) -> Result<Value, TemplateError> {
        let mut values = context.values();
        for (index, path) in self.paths.iter().enumerate() {
            let found = context.answer().and_then(|answer| path.first(answer));
            if let Some(found) = found {
                values.insert(path_variable(index), as_template_value(found, path)?);
            }
        }
        let evaluated = self.expression.eval(minijinja::Value::from(values));
        let value = evaluated.map_err(|error| self.failed(&error, context))?;
        if value.is_undefined() {
            return Err(self.missing(context));
        }
        serde_json::to_value(&value).map_err(|_| TemplateError {
            message: format!("{{{{ {} }}}} gives nothing that could be sent", self.source),
        })
    }

    fn failed(&self, error: &minijinja::Error, context: &Context<'_>) -> TemplateError {
        if error.kind() == minijinja::ErrorKind::UndefinedError {
            return self.missing(context);
        }
        let why = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
        TemplateError { message: format!("{{{{ {} }}}} can't be filled in: {why}", self.source) }
    }

    /// What it names and is not there.
    fn missing(&self, context: &Context<'_>) -> TemplateError {
        let unfound = self.paths.iter().find(|path| match context.answer() {
            Some(answer) => path.first(answer).is_none(),
            None => true,
        });
        let why = match unfound {
            Some(path) => format!("{path} matches nothing in the answer"),
            None => context.missing(self.named()),
        };
        TemplateError { message: format!("{{{{ {} }}}} can't be filled in: {why}", self.source) }
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{{{{ {} }}}}", self.source)
    }
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

fn as_template_value(found: &Value, path: &Path) -> Result<minijinja::Value, TemplateError> {
    if found.to_string().len() > MAX_VALUE {
        let message = format!("what stands at {path} is longer than {MAX_VALUE} bytes");
        return Err(TemplateError { message });
    }
    Ok(minijinja::Value::from(minijinja::value::Serde(found)))
}

fn deeper(
    step: String,
    (mut way, error): (Vec<String>, BadTemplate),
) -> (Vec<String>, BadTemplate) {
    way.insert(0, step);
    (way, error)
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
