//! What templates may use: variables, what was captured, and secrets; each as it is, and as it is shown.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_base::Secret;
use serde_json::Value;

use crate::template::{Named, SECRET, TIMEOUT};

/// Secrets by their names.
pub type Secrets = BTreeMap<String, Secret<String>>;

/// Stands before the name of a secret in a text that is shown. Private characters, so that no
/// other text looks like it.
pub(crate) const MARK: char = '\u{E5EC}';
/// Stands behind it.
pub(crate) const MARK_END: char = '\u{E5ED}';

/// All that templates may use.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    values: BTreeMap<String, Value>,
    /// Which of them are not shown.
    hidden: BTreeSet<String>,
    secrets: Arc<Secrets>,
}

/// As what values are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Face {
    /// As they are: for what is sent.
    Real,
    /// With marks in place of secrets: for what is shown.
    Shown,
}

/// What the templates of one request, or of one answer, are filled in from.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    scope: &'a Scope,
    face: Face,
    answer: Option<&'a Value>,
    /// What templates have asked for: a value may be long, and is made ready for them once.
    seen: RefCell<BTreeMap<String, minijinja::Value>>,
}

impl Scope {
    pub(crate) fn new(vars: BTreeMap<String, Value>, secrets: Arc<Secrets>) -> Self {
        Self { values: vars, hidden: BTreeSet::new(), secrets }
    }

    pub(crate) fn insert(&mut self, name: &str, value: Value, is_hidden: bool) {
        if is_hidden {
            self.hidden.insert(name.to_owned());
        }
        self.values.insert(name.to_owned(), value);
    }

    /// Filled in from the scope alone.
    pub(crate) fn context(&self, face: Face) -> Context<'_> {
        self.with_answer(face, None)
    }

    /// Filled in from an answer too.
    pub(crate) fn with_answer<'a>(&'a self, face: Face, answer: Option<&'a Value>) -> Context<'a> {
        Context { scope: self, face, answer, seen: RefCell::default() }
    }
}

impl Context<'_> {
    pub(crate) fn answer(&self) -> Option<&Value> {
        self.answer
    }

    /// These names with their values, as far as they have some.
    pub(crate) fn values(&self, named: &[Named]) -> BTreeMap<String, minijinja::Value> {
        let mut values = BTreeMap::new();
        let mut secrets = BTreeMap::new();
        for name in named {
            match name {
                Named::Variable(name) => values.extend(self.variable(name)),
                Named::Timeout(_) => values.extend(self.variable(TIMEOUT)),
                Named::Secret(name) => secrets.extend(self.secret(name)),
                Named::AllSecrets | Named::Answer => {}
            }
        }
        values.insert(SECRET.to_owned(), minijinja::Value::from(secrets));
        values
    }

    fn variable(&self, name: &str) -> Option<(String, minijinja::Value)> {
        let value = self.scope.values.get(name)?;
        if self.face == Face::Shown && self.scope.hidden.contains(name) {
            return Some((name.to_owned(), minijinja::Value::from(marked(name))));
        }
        let mut seen = self.seen.borrow_mut();
        let ready = seen
            .entry(name.to_owned())
            .or_insert_with(|| minijinja::Value::from(minijinja::value::Serde(value)));
        Some((name.to_owned(), ready.clone()))
    }

    fn secret(&self, name: &str) -> Option<(String, minijinja::Value)> {
        let text = match self.face {
            Face::Real => self.scope.secrets.get(name)?.expose().clone(),
            Face::Shown => marked(self.scope.secrets.get_key_value(name)?.0),
        };
        Some((name.to_owned(), minijinja::Value::from(text)))
    }

    /// Which of these names has no value, in words.
    pub(crate) fn missing(&self, named: &[Named]) -> String {
        for name in named {
            match name {
                Named::Secret(name) if !self.scope.secrets.contains_key(name) => {
                    return format!("the secret {name} is not known");
                }
                Named::Variable(name) if !self.scope.values.contains_key(name) => {
                    return format!(
                        "{name} has no value: the step that captures it did not get so far"
                    );
                }
                _ => {}
            }
        }
        "a part of it has no value".to_owned()
    }
}

fn marked(name: &str) -> String {
    format!("{MARK}{name}{MARK_END}")
}
