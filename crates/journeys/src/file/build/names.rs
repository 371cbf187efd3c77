//! Which names are known where: variables, captures and secrets.

use std::collections::BTreeSet;

use super::Site;
use crate::bounds::MAX_WORD;
use crate::file::mistakes::Way;
use crate::template::{JsonTemplate, Named, Template, changes_a_secret};

/// Names that have a meaning of their own.
const RESERVED: [&str; 2] = ["secret", "timeout"];

/// What a capture may be called that is not to be shown.
const SECRET_WORDS: [&str; 7] =
    ["token", "password", "secret", "api_key", "apikey", "credential", "session"];

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    variables: BTreeSet<String>,
    /// Which of them are not to be shown.
    hidden: BTreeSet<String>,
    secrets: BTreeSet<String>,
}

/// What is known of a poll that timed out.
const OF_TIMEOUT: [&str; 3] = ["elapsed_ms", "poll_count", "skipped_count"];

/// What a template may use besides variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum May {
    /// Nothing.
    Variables,
    /// Values of the answer.
    Answer,
    /// How a poll timed out.
    Timeout,
}

/// Whether a capture of this name is likely to be one that nobody else should see.
pub(super) fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_WORDS.iter().any(|word| name.contains(word))
}

impl Names {
    pub(super) fn secrets(&self) -> BTreeSet<String> {
        self.secrets.clone()
    }
}

impl Site<'_> {
    /// Makes a variable known from here on.
    pub(super) fn declare(&mut self, way: &Way, name: &str) {
        let is_variable = name
            .starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
            && name.len() <= MAX_WORD;
        if RESERVED.contains(&name) {
            self.mistakes.add(way, format!("{name} has a meaning of its own; take another name"));
        } else if !is_variable {
            self.mistakes.add(way, "a name has letters, digits and _, and begins with a letter");
        }
        self.names.variables.insert(name.to_owned());
    }

    /// What a variable holds is not to be shown from here on.
    pub(super) fn hide(&mut self, name: &str) {
        self.names.hidden.insert(name.to_owned());
    }

    /// A name of a step or an event.
    pub(super) fn word(&mut self, way: &Way, word: &str) -> Option<String> {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
        let is_word = !word.is_empty() && word.len() <= MAX_WORD && word.chars().all(is_allowed);
        if !is_word {
            let message = format!(
                "a name of a step or an event has 1 to {MAX_WORD} letters, digits, _ and -"
            );
            self.mistakes.add(way, message);
            return None;
        }
        Some(word.to_owned())
    }

    /// A template whose names are all known.
    pub(super) fn template(&mut self, way: &Way, text: &str, may: May) -> Option<Template> {
        let template = self.mistakes.take(way, Template::parse(text))?;
        self.check_template(way, &template, may);
        Some(template)
    }

    /// JSON whose names are all known.
    pub(super) fn json(&mut self, way: &Way, value: &serde_json::Value) -> Option<JsonTemplate> {
        match JsonTemplate::parse(value) {
            Ok(template) => {
                self.check_json(way, &template);
                Some(template)
            }
            Err((steps, error)) => {
                self.mistakes.add(&way.deeper(&steps), error.to_string());
                None
            }
        }
    }

    fn check_json(&mut self, way: &Way, json: &JsonTemplate) {
        match json {
            JsonTemplate::Fixed(_) => {}
            JsonTemplate::Text(template) => {
                self.check_template(way, template, May::Variables);
            }
            JsonTemplate::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.check_json(&way.index(index), item);
                }
            }
            JsonTemplate::Object(fields) => {
                for (key, field) in fields {
                    self.check_json(&way.key(key), field);
                }
            }
        }
    }

    fn check_template(&mut self, way: &Way, template: &Template, may: May) {
        let is_hidden = |named: &Named| match named {
            Named::Secret(_) | Named::AllSecrets => true,
            Named::Variable(name) => self.names.hidden.contains(name),
            Named::Timeout(_) | Named::Answer => false,
        };
        if let Some(expression) = template.changing(is_hidden) {
            self.mistakes.add(way, changes_a_secret(expression));
        }
        for named in template.named() {
            match named {
                Named::Secret(name) => self.secret(way, &name),
                Named::AllSecrets => {
                    self.mistakes.add(way, "name one secret, such as {{ secret.TOKEN }}");
                }
                Named::Answer if may != May::Answer => {
                    self.mistakes.add(way, "there is no answer here that $ could stand for");
                }
                Named::Answer => {}
                Named::Timeout(part) => self.timeout(way, &part, may),
                Named::Variable(name) => self.variable(way, &name),
            }
        }
    }

    fn timeout(&mut self, way: &Way, part: &str, may: May) {
        if may != May::Timeout {
            self.mistakes.add(way, "timeout has a value only in the `error` of `on_timeout`");
        } else if !part.is_empty() && !OF_TIMEOUT.contains(&part) {
            let message =
                format!("there is no timeout.{part}; there are {}", OF_TIMEOUT.join(", "));
            self.mistakes.unknown(way, part, OF_TIMEOUT, message);
        }
    }

    fn secret(&mut self, way: &Way, name: &str) {
        let is_name = name.starts_with(|first: char| first.is_ascii_uppercase())
            && name.len() <= MAX_WORD
            && name.chars().all(|letter| {
                letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_'
            });
        if is_name {
            self.names.secrets.insert(name.to_owned());
        } else {
            let message =
                "a secret is named with capitals, digits and _, such as {{ secret.TOKEN }}";
            self.mistakes.add(way, message);
        }
    }

    fn variable(&mut self, way: &Way, name: &str) {
        if self.names.variables.contains(name) {
            return;
        }
        let known: Vec<&str> = self.names.variables.iter().map(String::as_str).collect();
        let message = format!("{name} is neither a variable nor captured by a step before");
        self.mistakes.unknown(way, name, known, message);
    }
}
