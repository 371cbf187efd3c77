//! Values by key with their origin: flags > environment > file > default. A pure function.

use std::collections::BTreeMap;

use super::environment::{self, Variables};
use super::file::{self, Entry, FileText, FileValue};
use super::nearest::nearest_key;
use super::problem::{ConfigError, Origin, Problem, Reason, quoted};
use super::secrets::GivenSecrets;
use super::setting::{self, Fallback, Kind, SETTINGS, Setting};

/// The longest value that is taken, in bytes.
pub const MAX_VALUE_BYTES: usize = 16 * 1024;

/// What the command line gave: a setting and its text.
pub type Flags = Vec<(&'static Setting, String)>;

/// Everything that a configuration is made from.
#[derive(Debug)]
pub struct Input {
    /// What the command line gave.
    pub flags: Flags,
    /// The whole environment.
    pub variables: Variables,
    /// The file, or why it could not be read.
    pub file: Result<Option<FileText>, Problem>,
}

/// A value as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The text.
    pub text: String,
    /// Where it came from.
    pub origin: Origin,
}

/// The value of every setting that has one.
#[derive(Default)]
pub struct Layers {
    values: BTreeMap<&'static str, Value>,
    /// The secrets of journeys.
    pub secrets: GivenSecrets,
}

impl Layers {
    /// Lays the flags over the environment over the file over the defaults.
    pub fn gather(input: Input, problems: &mut ConfigError) -> Self {
        let mut layers = Self::default();
        for (setting, text) in input.flags {
            let origin = Origin::Flag(setting.flag.unwrap_or(setting.key));
            layers.offer(setting, Value { text, origin });
        }
        for (setting, value) in environment::values(&input.variables, problems) {
            layers.offer(setting, value);
        }
        layers.secrets.add_variables(&input.variables, problems);
        match input.file {
            Ok(Some(file)) => layers.add_file(&file, problems),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
        layers.add_defaults();
        layers.drop_too_long(problems);
        layers
    }

    /// The value of a setting, if it has one.
    #[must_use]
    pub fn get(&self, setting: &Setting) -> Option<&Value> {
        self.values.get(setting.key)
    }

    /// The first to offer a value wins, so the layers are offered from the top down.
    fn offer(&mut self, setting: &'static Setting, value: Value) {
        self.values.entry(setting.key).or_insert(value);
    }

    fn add_file(&mut self, file: &FileText, problems: &mut ConfigError) {
        let entries = file::entries(file).unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        for entry in entries {
            if self.secrets.add_entry(&entry, problems) {
                continue;
            }
            match setting::find(&entry.key) {
                Some(setting) => match text_of(setting, entry) {
                    Ok(value) => self.offer(setting, value),
                    Err(problem) => problems.push(problem),
                },
                None => problems.push(unknown_key(entry)),
            }
        }
    }

    fn add_defaults(&mut self) {
        for setting in SETTINGS {
            if let Fallback::Fixed(text) = setting.fallback {
                self.offer(setting, Value { text: text.to_owned(), origin: Origin::Default });
            }
        }
        for setting in SETTINGS {
            if let Fallback::Derived { make, .. } = setting.fallback {
                let text = make(self);
                self.offer(setting, Value { text, origin: Origin::Default });
            }
        }
    }

    fn drop_too_long(&mut self, problems: &mut ConfigError) {
        self.values.retain(|key, value| {
            let fits = value.text.len() <= MAX_VALUE_BYTES;
            if let (false, Some(setting)) = (fits, setting::find(key)) {
                let reason = format!("is longer than {MAX_VALUE_BYTES} bytes; shorten it").into();
                problems.push(bad_value(setting, value, reason));
            }
            fits
        });
    }
}

/// Without the values: a setting can be a secret.
impl std::fmt::Debug for Layers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origins = self.values.iter().map(|(key, value)| (key, value.origin.to_string()));
        formatter.debug_map().entries(origins).finish()
    }
}

/// The problem that a value does not do.
#[must_use]
pub fn bad_value(setting: &Setting, value: &Value, reason: Reason) -> Problem {
    Problem::Value {
        key: setting.key,
        origin: value.origin.clone(),
        shown: match setting.mask {
            Some(mask) if mask(&value.text) != value.text => "the value".to_owned(),
            _ => quoted(&value.text),
        },
        reason,
    }
}

fn text_of(setting: &'static Setting, entry: Entry) -> Result<Value, Problem> {
    let text = match (setting.kind, entry.value) {
        (Kind::Text, FileValue::Text(text)) | (Kind::Integer, FileValue::Integer(text)) => text,
        (Kind::Boolean, FileValue::Boolean(truth)) => truth.to_string(),
        // A comma would become a separator, and none of the lists can hold one.
        (Kind::List, FileValue::List(items)) => items.join(","),
        (kind, _) => {
            return Err(Problem::Value {
                key: setting.key,
                origin: entry.origin,
                shown: "the value".to_owned(),
                reason: format!("has the wrong type; write {}", kind.wanted()).into(),
            });
        }
    };
    Ok(Value { text, origin: entry.origin })
}

fn unknown_key(entry: Entry) -> Problem {
    let keys = SETTINGS.iter().map(|setting| setting.key);
    let nearest = nearest_key(&entry.key, keys).map(ToOwned::to_owned);
    Problem::UnknownKey { key: entry.key, origin: entry.origin, nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::http::{LISTEN, TRUSTED_PROXIES};
    use crate::config::testing::input;
    use crate::config::{data::DATA_DIR, database, http::PUBLIC_URL};

    fn layers(input: Input) -> Layers {
        let mut problems = ConfigError::default();
        let layers = Layers::gather(input, &mut problems);
        assert!(problems.is_empty(), "{problems}");
        layers
    }

    fn problems(input: Input) -> String {
        let mut problems = ConfigError::default();
        Layers::gather(input, &mut problems);
        assert!(!problems.is_empty());
        problems.to_string()
    }

    #[test]
    fn flags_win_over_variables_over_the_file_over_the_default() {
        let flag: Flags = vec![(&LISTEN, "a:1".to_owned())];
        let variable = [("MAINSTAY_LISTEN", "a:2")];
        let file = "\n[http]\nlisten = 'a:3'";
        for (given, expected, origin) in [
            (input(flag.clone(), &variable, file), "a:1", "--listen"),
            (input(vec![], &variable, file), "a:2", "MAINSTAY_LISTEN"),
            (input(vec![], &[("MAINSTAY_LISTEN", "")], file), "a:3", "mainstay.toml:3"),
            (input(vec![], &[], ""), "127.0.0.1:7373", "default"),
        ] {
            let layers = layers(given);
            let value = layers.get(&LISTEN).unwrap();
            assert_eq!(
                (value.text.as_str(), value.origin.to_string().as_str()),
                (expected, origin)
            );
        }
    }

    #[test]
    fn what_nobody_gave_and_has_no_default_is_absent() {
        assert_eq!(layers(input(vec![], &[], "")).get(&PUBLIC_URL), None);
    }

    #[test]
    fn the_database_follows_the_data_folder_from_any_layer() {
        let flags: Flags = vec![(&DATA_DIR, "/srv/mainstay/".to_owned())];
        let layers = layers(input(flags, &[], "data_dir = 'elsewhere'"));
        let value = layers.get(&database::URL).unwrap();
        assert_eq!(value.text, "sqlite:/srv/mainstay/mainstay.db");
        assert_eq!(value.origin, Origin::Default);
    }

    #[test]
    fn an_array_of_the_file_is_a_comma_list() {
        let layers = layers(input(vec![], &[], "http.trusted_proxies = ['::1', '10.0.0.0/8']"));
        assert_eq!(layers.get(&TRUSTED_PROXIES).unwrap().text, "::1,10.0.0.0/8");
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_told_together_with_their_lines() {
        let text = problems(input(
            vec![],
            &[],
            "lsten = 1\n[http]\nlisten = 7373\nlissten = 'x'\n[database]\nconnections = '10'\n[q]",
        ));
        let lines: Vec<_> = text.lines().map(str::trim_start).collect();
        assert_eq!(
            lines,
            [
                "the configuration has 5 problems:",
                "- mainstay.toml:1: \"lsten\" is not a setting; remove it, or see docs/guide/configuration.md for what there is",
                "- http.listen from mainstay.toml:3: the value has the wrong type; write a text such as \"…\"",
                "- mainstay.toml:4: \"http.lissten\" is not a setting; did you mean http.listen?",
                "- database.connections from mainstay.toml:6: the value has the wrong type; write a whole number such as 10",
                "- mainstay.toml:7: \"q\" is not a setting; remove it, or see docs/guide/configuration.md for what there is",
            ]
        );
    }

    #[test]
    fn a_value_without_end_is_refused_without_showing_a_secret() {
        let long = format!("postgres://u:hunter2@h/{}", "d".repeat(MAX_VALUE_BYTES));
        let text = problems(input(vec![(&database::URL, long)], &[], ""));
        assert_eq!(
            text,
            "database.url from --database: the value is longer than 16384 bytes; shorten it"
        );
    }

    #[test]
    fn the_debug_print_holds_no_value() {
        let flags: Flags = vec![(&database::URL, "postgres://u:hunter2@h/d".to_owned())];
        let shown = format!("{:?}", layers(input(flags, &[], "")));
        assert!(shown.contains("\"database.url\": \"--database\""), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
