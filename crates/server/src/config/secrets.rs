//! The secrets of journeys: `[secrets]` of the file and `MAINSTAY_SECRET_NAME` of the environment. Their
//! names are for people to choose, so none of them is a setting.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mainstay_base::Secret;

use super::environment::{SECRET_PREFIX, Variables};
use super::file::{Entry, FileValue};
use super::layers::MAX_VALUE_BYTES;
use super::problem::{ConfigError, Problem};

/// The table of the file.
const TABLE: &str = "secrets.";
/// The longest name.
const MAX_NAME: usize = 64;
/// The most secrets.
const MAX_SECRETS: usize = 1_000;

/// Every secret by its name, with where it came from.
#[derive(Debug, Default)]
pub struct GivenSecrets(BTreeMap<String, (Secret<String>, String)>);

impl GivenSecrets {
    /// Takes those of the environment. An empty variable counts as unset.
    pub fn add_variables(&mut self, variables: &Variables, problems: &mut ConfigError) {
        for (variable, value) in variables.iter().filter(|(_, value)| !value.is_empty()) {
            let Some(variable) = variable.to_str() else { continue };
            let Some(name) = variable.strip_prefix(SECRET_PREFIX) else { continue };
            match value.to_str() {
                Some(text) => self.offer(name, text, variable.to_owned(), problems),
                None => problems.push(Problem::NotUnicode { name: variable.to_owned() }),
            }
        }
    }

    /// Takes one of the file; tells whether it is one.
    pub fn add_entry(&mut self, entry: &Entry, problems: &mut ConfigError) -> bool {
        let Some(name) = entry.key.strip_prefix(TABLE) else { return false };
        match &entry.value {
            FileValue::Text(text) => self.offer(name, text, entry.origin.to_string(), problems),
            _ => problems.push(Problem::Secret {
                name: name.to_owned(),
                origin: entry.origin.to_string(),
                reason: "has the wrong type; write a text such as \"…\"",
            }),
        }
        true
    }

    /// The secrets.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, Secret<String>> {
        self.0.iter().map(|(name, (secret, _))| (name.clone(), secret.clone())).collect()
    }

    /// Their names with where they came from, as lines of a configuration file.
    #[must_use]
    pub fn print(&self) -> String {
        let mut text = String::new();
        for (name, (_, origin)) in &self.0 {
            // Writing to a String does not fail.
            let _ = writeln!(text, "secrets.{name} = \"[secret]\" # {origin}");
        }
        text
    }

    /// The first to offer one wins: the environment comes before the file.
    fn offer(&mut self, name: &str, text: &str, origin: String, problems: &mut ConfigError) {
        let reason = if !is_name(name) {
            "is no name of a secret; use letters, digits and underscores, and begin with a letter"
        } else if text.len() > MAX_VALUE_BYTES {
            "is longer than 16384 bytes; shorten it"
        } else if self.0.len() >= MAX_SECRETS {
            "is one secret too many; there may be 1000"
        } else {
            let secret = Secret::new(text.to_owned());
            self.0.entry(name.to_owned()).or_insert((secret, origin));
            return;
        };
        problems.push(Problem::Secret { name: name.to_owned(), origin, reason });
    }
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME).contains(&name.len())
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use crate::config::testing::input;
    use crate::config::{load, print};

    #[test]
    fn secrets_come_from_the_environment_and_the_file_and_are_never_shown() {
        let variables = [("MAINSTAY_SECRET_TOKEN", "hunter2"), ("MAINSTAY_SECRET_EMPTY", "")];
        let file = "[secrets]\nTOKEN = 'from the file'\nKEY = 'k3y-of-the-file'";
        let loaded = load(input(vec![], &variables, file)).unwrap();
        let exposed = |name: &str| loaded.config.secrets.get(name).map(|one| one.expose().clone());
        assert_eq!(exposed("TOKEN").as_deref(), Some("hunter2"));
        assert_eq!(exposed("KEY").as_deref(), Some("k3y-of-the-file"));
        assert_eq!(exposed("EMPTY"), None);
        let shown = format!("{:?} {}", loaded.config, print::print(&loaded.layers));
        assert!(!shown.contains("hunter2") && !shown.contains("k3y-of"), "{shown}");
        assert!(shown.contains("secrets.TOKEN = \"[secret]\" # MAINSTAY_SECRET_TOKEN"), "{shown}");
        assert!(shown.contains("secrets.KEY = \"[secret]\" # mainstay.toml:3"), "{shown}");
    }

    #[test]
    fn what_is_no_secret_is_told_without_its_value() {
        let file = "[secrets]\n\"a-b\" = 'hunter2'\nNUMBER = 7";
        let text = load(input(vec![], &[], file)).unwrap_err().to_string();
        assert!(text.contains("the secret a-b from mainstay.toml:2 is no name"), "{text}");
        assert!(
            text.contains("the secret NUMBER from mainstay.toml:3 has the wrong type"),
            "{text}"
        );
        assert!(!text.contains("hunter2"), "{text}");
    }
}
