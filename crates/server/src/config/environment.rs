//! The environment: the only place that reads it, and which of its names mean something.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use super::file::CONFIG_VARIABLE;
use super::layers::Value;
use super::nearest::nearest;
use super::problem::{ConfigError, Origin, Problem};
use super::setting::{SETTINGS, Setting};

/// Every variable with its value.
pub type Variables = Vec<(OsString, OsString)>;

/// Variables with this beginning are ours, so that an unknown one is a mistake.
const PREFIX: &str = "MAINSTAY_";

/// Variables with this beginning are the secrets of journeys: their names are for people to choose.
pub const SECRET_PREFIX: &str = "MAINSTAY_SECRET_";

/// Names that are no settings: secrets, and what the build and the tests use.
const OTHER_PREFIXES: [&str; 4] =
    [SECRET_PREFIX, "MAINSTAY_BUILD_", "MAINSTAY_TEST_", "MAINSTAY_UI_"];

/// What standard error is, as far as it decides how a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// A person is looking.
    pub terminal: bool,
    /// `NO_COLOR` asks for plain text.
    pub no_color: bool,
}

/// The environment of this process.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one reader of the environment")]
pub fn variables() -> Variables {
    std::env::vars_os().collect()
}

/// The folder for temporary files: that of `TMPDIR`, or the system's.
#[must_use]
pub fn temporary_folder() -> PathBuf {
    std::env::temp_dir()
}

/// The standard error of this process.
#[must_use]
pub fn screen(variables: &Variables) -> Screen {
    Screen {
        terminal: std::io::stderr().is_terminal(),
        no_color: variables.iter().any(|(name, value)| name == "NO_COLOR" && !value.is_empty()),
    }
}

/// The settings that the environment gives. An empty variable counts as unset.
pub fn values(variables: &Variables, problems: &mut ConfigError) -> Vec<(&'static Setting, Value)> {
    check_names(variables, problems);
    SETTINGS
        .iter()
        .filter_map(|setting| Some((*setting, value(setting, variables, problems)?)))
        .collect()
}

fn value(setting: &Setting, variables: &Variables, problems: &mut ConfigError) -> Option<Value> {
    let mut chosen: Option<(&'static str, &str)> = None;
    for name in setting.variables {
        let found = variables.iter().find(|(known, value)| known == name && !value.is_empty());
        let Some(text) = found.and_then(|(_, value)| value.to_str()) else { continue };
        match chosen {
            Some((first, other)) if other != text => {
                problems.push(Problem::Contradiction { first, second: name });
            }
            Some(_) => {}
            None => chosen = Some((name, text)),
        }
    }
    let (name, text) = chosen?;
    Some(Value { text: text.to_owned(), origin: Origin::Variable(name) })
}

/// Finds names that are nearly ours and values that are no text.
fn check_names(variables: &Variables, problems: &mut ConfigError) {
    let mut sorted: Vec<_> = variables.iter().filter(|(_, value)| !value.is_empty()).collect();
    sorted.sort_unstable();
    for (name, value) in sorted {
        let (name, text) = (name.to_string_lossy(), value.to_str());
        let is_known = known().any(|known| known == name);
        let is_ours = is_known || name.starts_with(PREFIX);
        if !is_ours || is_other_name(&name) || text.is_some_and(|text| is_injected(&name, text)) {
            continue;
        }
        if text.is_none() {
            problems.push(Problem::NotUnicode { name: name.into_owned() });
        } else if !is_known {
            let nearest = meant(&name).map(ToOwned::to_owned);
            problems.push(Problem::UnknownVariable { name: name.into_owned(), nearest });
        }
    }
}

fn known() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().flat_map(|setting| setting.variables).copied().chain([CONFIG_VARIABLE])
}

/// The variable that was probably meant. Many expect the key itself: `MAINSTAY_DATABASE_URL`.
fn meant(name: &str) -> Option<&'static str> {
    nearest(name, known()).or_else(|| {
        let same = |setting: &&&Setting| {
            name.strip_prefix(PREFIX) == Some(&setting.key.to_uppercase().replace('.', "_"))
        };
        SETTINGS.iter().find(same)?.variables.first().copied()
    })
}

fn is_other_name(name: &str) -> bool {
    OTHER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Kubernetes gives every pod the addresses of the services beside it. A service named `mainstay`
/// or `mainstay-…` makes names that look like ours.
fn is_injected(name: &str, text: &str) -> bool {
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|scheme| text.starts_with(scheme));
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_SERVICE_PORT")
        || name.contains("_SERVICE_PORT_")
        || (name.ends_with("_PORT") && is_address)
        || name.split_once("_PORT_").is_some_and(|(_, rest)| is_port_detail(rest))
}

/// `80_TCP`, `80_TCP_ADDR`, …
fn is_port_detail(rest: &str) -> bool {
    let (number, detail) = rest.split_once('_').unwrap_or((rest, ""));
    number.parse::<u16>().is_ok()
        && ["TCP", "UDP", "SCTP"].iter().any(|protocol| detail.starts_with(protocol))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::database;
    use std::os::unix::ffi::OsStringExt as _;

    fn problems(variables: &[(&str, &str)]) -> String {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let mut problems = ConfigError::default();
        values(&variables, &mut problems);
        if problems.is_empty() { String::new() } else { problems.to_string() }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest_one() {
        for (name, hint) in [
            ("MAINSTAY_LISTN", "did you mean MAINSTAY_LISTEN?"),
            ("MAINSTAY_DATADIR", "did you mean MAINSTAY_DATA_DIR?"),
            ("MAINSTAY_CONFG", "did you mean MAINSTAY_CONFIG?"),
            ("MAINSTAY_DATABASE_URL", "did you mean DATABASE_URL?"),
            ("MAINSTAY_LOG_LEVEL", "did you mean MAINSTAY_LOG?"),
            ("MAINSTAY_HTTP_LISTEN", "did you mean MAINSTAY_LISTEN?"),
            ("MAINSTAY_COLOUR_OF_THE_SKY", "remove it"),
            ("MAINSTAY_PORT", "is not a setting"),
        ] {
            let text = problems(&[(name, "8080")]);
            assert!(text.contains(name) && text.contains(hint), "{text}");
            assert!(!text.contains("8080"), "{text}");
        }
    }

    #[test]
    fn names_of_others_are_left_alone() {
        for (name, value) in [
            ("PATH", "/bin"),
            ("mainstay_listen", "x"),
            ("MAINSTAY_LISTN", ""),
            ("MAINSTAY_CONFIG", "x.toml"),
            ("MAINSTAY_TEST_DATABASE_URL", "postgres://"),
            ("MAINSTAY_UI_REQUIRED", "1"),
            ("MAINSTAY_BUILD_COMMIT", "abc"),
            ("MAINSTAY_SECRET_TOKEN", "hunter2"),
            ("MAINSTAY_SERVICE_HOST", "10.0.0.1"),
            ("MAINSTAY_SERVICE_PORT", "80"),
            ("MAINSTAY_SERVICE_PORT_HTTP", "80"),
            ("MAINSTAY_PORT", "tcp://10.0.0.1:80"),
            ("MAINSTAY_PORT_80_TCP", "tcp://10.0.0.1:80"),
            ("MAINSTAY_PORT_80_TCP_ADDR", "10.0.0.1"),
            ("MAINSTAY_POSTGRES_SERVICE_HOST", "10.0.0.2"),
            ("MAINSTAY_POSTGRES_PORT_5432_TCP_PROTO", "tcp"),
        ] {
            assert_eq!(problems(&[(name, value)]), "", "{name}");
        }
    }

    #[test]
    fn a_value_that_is_no_text_is_named_and_not_shown() {
        let bytes = OsString::from_vec(b"hunter2\xff".to_vec());
        for name in ["DATABASE_URL", "MAINSTAY_LISTEN", "MAINSTAY_CONFIG", "MAINSTAY_WHAT"] {
            let mut problems = ConfigError::default();
            values(&vec![(name.into(), bytes.clone())], &mut problems);
            let expected = format!("{name} in the environment is not valid UTF-8; set it again");
            assert_eq!(problems.to_string(), expected);
        }
        let mut problems = ConfigError::default();
        values(&vec![("OTHER".into(), bytes)], &mut problems);
        assert!(problems.is_empty());
    }

    #[test]
    fn two_names_of_one_setting_must_agree() {
        let both = |first: &str, second: &str| {
            problems(&[("DATABASE_URL", first), ("MAINSTAY_DATABASE", second)])
        };
        assert_eq!(both("sqlite:a", "sqlite:a"), "");
        assert_eq!(
            both("sqlite:a", "sqlite:b"),
            "DATABASE_URL and MAINSTAY_DATABASE in the environment differ; unset one of them"
        );
    }

    #[test]
    fn either_name_gives_the_value() {
        for name in database::URL.variables {
            let variables = vec![(name.into(), "sqlite:a".into())];
            let found = values(&variables, &mut ConfigError::default());
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].1.origin, Origin::Variable(name));
        }
    }
}
