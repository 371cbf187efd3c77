//! What is logged, and how it looks.

use tracing_subscriber::EnvFilter;

use super::nearest::nearest;
use super::problem::Reason;
use super::reader::Reader;
use super::setting::{Fallback, Kind, Setting, parts};

/// How a log line looks.
pub const FORMAT: Setting = Setting {
    key: "log.format",
    variables: &["MAINSTAY_LOG_FORMAT"],
    flag: Some("--log-format"),
    kind: Kind::Text,
    fallback: Fallback::Fixed("auto"),
    mask: None,
    help: "Log lines as text or json; auto is text on a terminal and json elsewhere",
};

/// Which lines are written.
pub const LEVEL: Setting = Setting {
    key: "log.level",
    variables: &["MAINSTAY_LOG"],
    flag: Some("--log-level"),
    kind: Kind::Text,
    fallback: Fallback::Fixed("info"),
    mask: None,
    help: "Which lines are logged, such as warn or info,mainstay_store=debug",
};

/// The words for a level.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// How a line looks.
    pub format: LogFormat,
    /// Which lines are written: directives that [`filter`] takes.
    pub level: String,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// For people.
    Text,
    /// For machines: one object on each line.
    Json,
}

/// The filter that the directives describe.
///
/// # Errors
/// Why they describe none.
pub fn filter(directives: &str) -> Result<EnvFilter, Reason> {
    for directive in parts(directives) {
        // A lone word is taken for a target by the filter, so that a mistyped level would silence
        // everything without a word.
        let is_word = !directive.contains(['=', '[']);
        if is_word && !LEVELS.contains(&directive.to_ascii_lowercase().as_str()) {
            return Err(no_level(directive));
        }
    }
    EnvFilter::builder().parse(directives).map_err(|_| {
        "is not a list of levels; give one such as info or info,mainstay_store=debug".into()
    })
}

/// Reads the log settings.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<LogConfig> {
    let format = reader.required(&FORMAT, log_format);
    let level = reader.required(&LEVEL, |text| filter(text).map(|_| text.to_owned()));
    Some(LogConfig { format: format?, level: level? })
}

fn log_format(text: &str) -> Result<LogFormat, Reason> {
    match text.trim() {
        "auto" => Ok(LogFormat::Auto),
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("is not a log format; give text, json or auto".into()),
    }
}

fn no_level(word: &str) -> Reason {
    let word = word.escape_debug();
    match nearest(&word.to_string(), LEVELS) {
        Some(level) => format!("holds \"{word}\", which is no level; did you mean {level}?"),
        None => format!("holds \"{word}\", which is no level; give one of {}", LEVELS.join(", ")),
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_levels_with_or_without_a_target() {
        for text in ["info", "WARN", "off", "info,mainstay_store=debug", "warn,[request{id}]=trace"]
        {
            assert!(filter(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_mistyped_level_is_refused_with_the_meant_one() {
        for (text, part) in [
            ("inof", "did you mean info?"),
            ("info,debgu", "did you mean debug?"),
            ("mainstay_store", "give one of off, error"),
            ("mainstay=loud", "is not a list of levels"),
            ("info,a=b=c=d", "is not a list of levels"),
        ] {
            let reason = filter(text).expect_err(text).to_string();
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn a_format_is_one_of_three_words() {
        assert_eq!(log_format("json"), Ok(LogFormat::Json));
        assert_eq!(log_format("text"), Ok(LogFormat::Text));
        assert_eq!(log_format("auto"), Ok(LogFormat::Auto));
        assert!(log_format("JSON").is_err());
    }
}
