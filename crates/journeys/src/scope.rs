//! What templates may use: variables, what was captured, and secrets; each as it is, and as it is shown.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use mainstay_base::Secret;
use serde_json::Value;

use crate::bounds::MAX_FILLED;
use crate::document::{Document, Weight};
use crate::mask::Mask;
use crate::template::{Named, SECRET, TIMEOUT};

/// How many bytes of a text take as long as one value of a list or an object.
const BYTES_OF_A_VALUE: u64 = 32;

/// Secrets by their names.
pub type Secrets = BTreeMap<String, Secret<String>>;

/// Stands before the name of a secret in a text that is shown. Private characters, so that no
/// other text looks like it.
pub(crate) const MARK: char = '\u{E5EC}';
/// Stands behind it.
pub(crate) const MARK_END: char = '\u{E5ED}';

/// All that templates may use.
///
/// Each poller keeps one as it was when it began: a clone shares everything, however long the values are.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    variables: Arc<BTreeMap<Arc<str>, Arc<Variable>>>,
    secrets: Arc<Secrets>,
}

#[derive(Debug)]
struct Variable {
    value: Value,
    shown: Shown,
}

/// As what a variable is shown.
#[derive(Debug)]
enum Shown {
    /// As it is.
    Plain,
    /// By its name: it is a secret.
    Name,
    /// As this: a secret stands somewhere in it.
    Masked(Value),
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
    answer: Option<&'a Document>,
    /// Knows the secrets that an answer may hold.
    mask: Option<&'a Mask>,
    /// What templates have asked for: a value may be long, and is made ready for them once.
    seen: RefCell<BTreeMap<String, Ready>>,
    /// How many bytes may still be gone over.
    left: Cell<u64>,
}

/// A value that is ready for templates.
#[derive(Debug, Clone)]
struct Ready {
    value: minijinja::Value,
    bytes: u64,
}

/// What an expression is filled in from, and how many bytes all of it has.
#[derive(Debug, Default)]
pub(crate) struct Filling {
    pub(crate) values: BTreeMap<String, minijinja::Value>,
    pub(crate) bytes: u64,
}

impl Scope {
    pub(crate) fn new(vars: BTreeMap<String, Value>, secrets: Arc<Secrets>) -> Self {
        let mask = Mask::new(&secrets);
        let mut scope = Self { variables: Arc::default(), secrets };
        vars.into_iter().for_each(|(name, value)| scope.insert(&name, value, &mask));
        scope
    }

    /// A value in which the mask finds a secret is treated as one, however it came here.
    pub(crate) fn insert(&mut self, name: &str, value: Value, mask: &Mask) {
        let shown = Shown::of(&value, mask);
        self.set(name, Variable { value, shown });
    }

    /// A value that is a secret itself.
    pub(crate) fn insert_secret(&mut self, name: &str, value: Value) {
        self.set(name, Variable { value, shown: Shown::Name });
    }

    fn set(&mut self, name: &str, variable: Variable) {
        Arc::make_mut(&mut self.variables).insert(name.into(), Arc::new(variable));
    }

    /// Looks for secrets again, where there are more than there were.
    pub(crate) fn mask(&mut self, mask: &Mask) {
        for variable in Arc::make_mut(&mut self.variables).values_mut() {
            if matches!(variable.shown, Shown::Name) {
                continue;
            }
            let masked = mask.value(&variable.value);
            if variable.shown.as_masked(&variable.value) != &masked {
                let value = variable.value.clone();
                *variable = Arc::new(Variable { value, shown: Shown::Masked(masked) });
            }
        }
    }

    /// Filled in from the scope alone.
    pub(crate) fn context(&self, face: Face) -> Context<'_> {
        self.with_answer(face, None, None)
    }

    /// Filled in from an answer too, in which the mask knows the secrets.
    pub(crate) fn with_answer<'a>(
        &'a self,
        face: Face,
        answer: Option<&'a Document>,
        mask: Option<&'a Mask>,
    ) -> Context<'a> {
        let left = Cell::new(MAX_FILLED);
        Context { scope: self, face, answer, mask, seen: RefCell::default(), left }
    }
}

impl Shown {
    fn of(value: &Value, mask: &Mask) -> Self {
        let masked = mask.value(value);
        if masked == *value { Self::Plain } else { Self::Masked(masked) }
    }

    /// What is shown of a value that is no secret itself.
    fn as_masked<'a>(&'a self, value: &'a Value) -> &'a Value {
        if let Self::Masked(masked) = self { masked } else { value }
    }
}

impl Context<'_> {
    pub(crate) fn answer(&self) -> Option<&Document> {
        self.answer
    }

    /// The value of an answer without the secrets that stand in it, if there are some.
    pub(crate) fn masked(&self, found: &Value) -> Option<Value> {
        let masked = self.mask?.value(found);
        (masked != *found).then_some(masked)
    }

    /// Whether a secret stands in what one of these names means. What is a secret by its name, whoever reads the file
    /// knows already.
    pub(crate) fn has_secret(&self, named: &[Named]) -> bool {
        named.iter().any(|named| match named {
            Named::Variable(name) => {
                let variable = self.scope.variables.get(name.as_str());
                variable.is_some_and(|variable| !matches!(variable.shown, Shown::Plain))
            }
            _ => false,
        })
    }

    /// Goes over so many bytes, where as many may still be gone over.
    pub(crate) fn go_over(&self, bytes: u64) -> bool {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// These names with their values, as far as they have some.
    pub(crate) fn filling(&self, named: &[Named]) -> Filling {
        let mut filling = Filling::default();
        let mut secrets = BTreeMap::new();
        for name in named {
            match name {
                Named::Variable(name) => filling.add(name, self.variable(name)),
                Named::Timeout(_) => filling.add(TIMEOUT, self.variable(TIMEOUT)),
                Named::Secret(name) => secrets.extend(self.secret(name)),
                Named::AllSecrets | Named::Answer => {}
            }
        }
        filling.values.insert(SECRET.to_owned(), minijinja::Value::from(secrets));
        filling
    }

    fn variable(&self, name: &str) -> Option<Ready> {
        let Variable { value, shown } = self.scope.variables.get(name)?.as_ref();
        let mut seen = self.seen.borrow_mut();
        let ready = seen.entry(name.to_owned()).or_insert_with(|| match (self.face, shown) {
            (Face::Shown, Shown::Name) => Ready::of(&Value::String(marked(name))),
            (Face::Shown, Shown::Masked(masked)) => Ready::of(masked),
            (Face::Real, _) | (Face::Shown, Shown::Plain) => Ready::of(value),
        });
        Some(ready.clone())
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
                Named::Variable(name) if !self.scope.variables.contains_key(name.as_str()) => {
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

impl Filling {
    fn add(&mut self, name: &str, ready: Option<Ready>) {
        let Some(Ready { value, bytes }) = ready else { return };
        self.values.insert(name.to_owned(), value);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// A value of the answer.
    pub(crate) fn add_found(&mut self, name: &str, found: &Value) {
        self.add(name, Some(Ready::of(found)));
    }
}

impl Ready {
    fn of(value: &Value) -> Self {
        let bytes = Weight::of(value).values.saturating_mul(BYTES_OF_A_VALUE);
        Self { value: minijinja::Value::from(minijinja::value::Serde(value)), bytes }
    }
}

fn marked(name: &str) -> String {
    format!("{MARK}{name}{MARK_END}")
}
