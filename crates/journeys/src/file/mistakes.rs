//! What is wrong with a file, and where.

use std::fmt;

use serde::{Deserialize, Serialize};

use mainstay_yaml::{Finder, Step, shown};

use super::LIMITS;
use mainstay_base::nearest;

/// The most mistakes that are told at once.
const MAX_MISTAKES: usize = 50;

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Mistake {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// The way to it, such as `steps[0].poll.every`; empty where it is the whole file.
    pub path: String,
    /// What is wrong, and what to do.
    pub message: String,
    /// The known name that was probably meant.
    #[schema(required)]
    pub nearest: Option<String>,
}

/// As compilers tell it: `5:9: steps[0].expct: there is no such key; did you mean expect?`.
impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(formatter, "{}: ", self.path)?;
        }
        formatter.write_str(&self.message)?;
        match &self.nearest {
            Some(name) => write!(formatter, "; did you mean {name}?"),
            None => Ok(()),
        }
    }
}

impl Mistake {
    pub(super) fn at_start(message: String) -> Self {
        Self { line: 1, column: 1, path: String::new(), message, nearest: None }
    }
}

/// Mistakes as they are found.
#[derive(Debug, Default)]
pub(super) struct Mistakes(Vec<(Vec<Step>, String, Option<String>)>);

/// A way into the file, as it is gone.
#[derive(Debug, Clone, Default)]
pub(super) struct Way(Vec<Step>);

impl Way {
    pub(super) fn key(&self, key: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Key(key.to_owned()));
        Self(steps)
    }

    pub(super) fn index(&self, index: usize) -> Self {
        let mut steps = self.0.clone();
        steps.push(Step::Index(index));
        Self(steps)
    }

    /// Further, where each step is a key or an index.
    pub(super) fn deeper(&self, steps: &[String]) -> Self {
        steps.iter().fold(self.clone(), |way, step| match step.parse() {
            Ok(index) => way.index(index),
            Err(_) => way.key(step),
        })
    }
}

impl Mistakes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, way: &Way, message: impl Into<String>) {
        self.push(way, message.into(), None);
    }

    /// A name that nobody knows.
    pub(super) fn unknown<'a>(
        &mut self,
        way: &Way,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        message: impl Into<String>,
    ) {
        let nearest = nearest(name, known).map(str::to_owned);
        self.push(way, message.into(), nearest);
    }

    /// What a reading gives, or none and a mistake more.
    pub(super) fn take<T, E: fmt::Display>(&mut self, way: &Way, read: Result<T, E>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(way, error.to_string());
                None
            }
        }
    }

    /// More of something than there may be.
    pub(super) fn at_most(&mut self, way: &Way, count: usize, most: usize, what: &str) {
        if count > most {
            self.add(way, format!("there are {count} {what}, and there may be {most}"));
        }
    }

    fn push(&mut self, way: &Way, message: String, nearest: Option<String>) {
        if self.0.len() < MAX_MISTAKES {
            self.0.push((way.0.clone(), message, nearest));
        }
    }

    /// With their places, in the order of the file.
    pub(super) fn placed(self, text: &str) -> Vec<Mistake> {
        let find = Finder::new(text, LIMITS);
        let placed = self.0.into_iter().map(|(path, message, nearest)| {
            let (line, column) = find.find(&path).unwrap_or((1, 1));
            Mistake { line, column, path: shown(&path), message, nearest }
        });
        let mut all: Vec<Mistake> = placed.collect();
        all.sort_by_key(|mistake| (mistake.line, mistake.column));
        all
    }
}
