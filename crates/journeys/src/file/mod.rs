//! The file of a journey: `shape` is what may stand in it, `forms` are its small words, `schema` what
//! an editor may know beside their types, `build` makes a
//! journey of it and finds every mistake, `problem` says what YAML could not be read.

mod build;
mod forms;
mod mistakes;
mod problem;
mod schema;
mod shape;

pub use mistakes::Mistake;

use mainstay_yaml::Limits;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::bounds::{MAX_DEPTH, MAX_FILE_BYTES, MAX_NODES};
use crate::model::Journey;
use forms::Span;
use mistakes::{Mistakes, Way};
use shape::JourneyFile;

const LIMITS: Limits = Limits { nodes: MAX_NODES, replayed: MAX_NODES, depth: MAX_DEPTH };

impl Journey {
    /// Reads a file.
    ///
    /// # Errors
    /// Every mistake that was found, with its place. Those of its shape (keys, kinds of values) are told before
    /// what stands in it is looked at.
    pub fn parse(text: &str) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Mistakes::default();
        let built = read(text).map(|file| build::journey(&file, &mut mistakes));
        match built {
            Err(mistakes) => Err(mistakes),
            Ok(Some(journey)) if mistakes.is_empty() => Ok(journey),
            Ok(_) => Err(mistakes.placed(text)),
        }
    }

    /// What keeps it from running by its schedule, where nobody gives it anything: mistakes in its file, which
    /// is `text`.
    #[must_use]
    pub fn unattended(&self, text: &str) -> Vec<Mistake> {
        let mut mistakes = Mistakes::default();
        let missing = self.every.map(|_| self.missing_vars()).unwrap_or_default();
        for name in missing {
            let message = "it has no value, and nobody gives one to a run of the schedule; give it a value, \
                           or leave `every` out";
            mistakes.add(&Way::default().key("vars").key(&name), message);
        }
        mistakes.placed(text)
    }

    /// What is no mistake in its file, which is `text`, and hardly meant: polls that the end of the run cuts off
    /// before their own.
    #[must_use]
    pub fn doubts(&self, text: &str) -> Vec<Mistake> {
        let mut doubts = Mistakes::default();
        for (index, step) in self.steps.iter().enumerate() {
            let Some(poll) = step.poll.as_ref().filter(|poll| poll.within > self.within) else {
                continue;
            };
            let (own, whole) = (Span(poll.within), Span(self.within));
            let message = format!(
                "{own} is longer than the whole run may take ({whole}), so that the run fails before `on_timeout` is \
                 asked; shorten it, or give the journey a longer `within`"
            );
            let way = Way::default().key("steps").index(index).key("poll").key("within");
            doubts.add(&way, message);
        }
        doubts.placed(text)
    }
}

/// The JSON Schema of a file, for editors.
#[must_use]
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    let schema = generator.into_root_schema_for::<JourneyFile>();
    let mut text = serde_json::to_string_pretty(&schema).unwrap_or_default();
    text.push('\n');
    text
}

fn read(text: &str) -> Result<JourneyFile, Vec<Mistake>> {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("the file is longer than {MAX_FILE_BYTES} bytes; split it");
        return Err(vec![Mistake::at_start(message)]);
    }
    let read = mainstay_yaml::read_all(text, LIMITS, stand_in);
    read.map_err(|all| all.into_iter().map(|unread| problem::mistake(text, unread)).collect())
}

/// What keeps a file readable in which a key that must be there is missing or wrong.
fn stand_in(key: &str) -> Option<Value> {
    Some(match key {
        "journey" | "id" | "error" => Value::from("x"),
        "every" | "within" => Value::from("1s"),
        "do" => Value::from("done"),
        "path" => Value::from("$"),
        "steps" | "when" => Value::Array(Vec::new()),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "../file_tests.rs"]
mod tests;
