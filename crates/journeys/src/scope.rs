//! What templates may use: variables, what was captured, and secrets; each as it is, and as it is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mainstay_base::Secret;
use serde_json::Value;

use crate::template::Named;

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

/// What one template is filled in from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    scope: &'a Scope,
    face: Face,
    answer: Option<&'a Value>,
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
        Context { scope: self, face, answer: None }
    }

    /// Filled in from an answer too.
    pub(crate) fn with_answer<'a>(&'a self, face: Face, answer: Option<&'a Value>) -> Context<'a> {
        Context { scope: self, face, answer }
    }
}

impl Context<'_> {
    pub(crate) fn answer(&self) -> Option<&Value> {
        self.answer
    }

    /// Every name with its value.
    pub(crate) fn values(&self) -> BTreeMap<String, minijinja::Value> {
        let seen = self.scope.values.iter().map(|(name, value)| {
            let is_hidden = self.face == Face::Shown && self.scope.hidden.contains(name);
            let value = if is_hidden {
                minijinja::Value::from(marked(name))
            } else {
                minijinja::Value::from(minijinja::value::Serde(value))
            };
            (name.clone(), value)
        });
        let mut values: BTreeMap<_, _> = seen.collect();
        values.insert("secret".to_owned(), self.secrets());
        values
    }

    fn secrets(&self) -> minijinja::Value {
        let seen = self.scope.secrets.iter().map(|(name, secret)| {
            let text = match self.face {
                Face::Real => secret.expose().clone(),
                Face::Shown => marked(name),
            };
            (name.clone(), minijinja::Value::from(text))
        });
        minijinja::Value::from(seen.collect::<BTreeMap<String, minijinja::Value>>())
    }

    /// Which of these names has no value, in words.
    pub(crate) fn missing(&self, named: Vec<Named>) -> String {
        for name in named {
            match name {
                Named::Secret(name) if !self.scope.secrets.contains_key(&name) => {
                    return format!("the secret {name} is not known");
                }
                Named::Variable(name) if !self.scope.values.contains_key(&name) => {
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
