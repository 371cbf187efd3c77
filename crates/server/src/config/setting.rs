//! What can be set, in one list: it drives reading, unknown names, `--print-config` and the guide.

use super::layers::Layers;
use super::{
    accounts, client, data, database, events, fleet, fly, history, http, jobs, llm, log, mail,
    metrics, outbound, poll, sprites, sse, stage, storage, telemetry, tls,
};

/// One thing that can be set, with every name it goes by.
#[derive(Debug)]
pub struct Setting {
    /// The dotted name in `mainstay.toml`: `http.listen`.
    pub key: &'static str,
    /// The environment names; the first is the canonical one.
    pub variables: &'static [&'static str],
    /// The flag with its dashes, where there is one.
    pub flag: Option<&'static str>,
    /// What the file has to hold.
    pub kind: Kind,
    /// What counts when nobody says anything.
    pub fallback: Fallback,
    /// How a value that holds a secret is shown; one without comes back as it is. Absent where
    /// every value may be seen.
    pub mask: Option<fn(&str) -> String>,
    /// One line for `--help` and the guide.
    pub help: &'static str,
}

/// The type of a value in the file. Flags and variables give the same as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A whole number.
    Integer,
    /// `true` or `false`; in text also `1` or `0`.
    Boolean,
    /// An array of strings; in text separated by commas.
    List,
}

/// The value of a setting that nobody gave.
#[derive(Debug, Clone, Copy)]
pub enum Fallback {
    /// This text.
    Fixed(&'static str),
    /// Made from the other settings.
    Derived {
        /// Makes it.
        make: fn(&Layers) -> String,
        /// How the guide describes it.
        shown: &'static str,
    },
    /// Nothing.
    Unset,
}

/// Every setting, sorted by key.
pub const SETTINGS: &[&Setting] = &[
    &accounts::AUDIT_DAYS,
    &accounts::PEPPER,
    &client::CA_FILE,
    &client::INSECURE,
    &client::SERVER,
    &client::TOKEN,
    &client::TOKEN_FILE,
    &data::DATA_DIR,
    &database::CONNECTIONS,
    &database::DIRECT_URL,
    &database::URL,
    &stage::STAGE,
    &events::KEEP_COUNT,
    &events::KEEP_DAYS,
    &fleet::SWEEP_MS,
    &fly::PORT,
    &fly::TOKEN,
    &fly::APP,
    &fly::BASE_URL,
    &fly::IMAGE,
    &history::FIVE_MINUTE_DAYS,
    &history::HOURLY_DAYS,
    &history::MISSING_HOURS,
    &history::RAW_HOURS,
    &http::ADDRESS_BURST,
    &http::ADDRESS_RATE,
    &http::LISTEN,
    &http::MAX_CONNECTIONS,
    &http::PUBLIC_URL,
    &http::TRUSTED_PROXIES,
    &jobs::CONCURRENCY,
    &jobs::EMBEDDED,
    &jobs::LISTEN,
    &jobs::LOCK_TTL,
    &jobs::POLL_MS,
    &jobs::RUNNER_ID,
    &jobs::STOP_SECONDS,
    &llm::API_KEY,
    &llm::BASE_URL,
    &llm::MODEL,
    &llm::PROVIDER,
    &llm::TIMEOUT_MS,
    &log::FORMAT,
    &log::LEVEL,
    &mail::CA_FILE,
    &mail::FROM,
    &mail::SERVER,
    &metrics::PUBLIC,
    &outbound::ALLOW,
    &outbound::CA_FILE,
    &poll::CYCLE_MS,
    &poll::PER_HOST,
    &poll::IN_FLIGHT,
    &storage::ACCESS_KEY_ID,
    &storage::BUCKET,
    &storage::ENDPOINT,
    &storage::REGION,
    &storage::SECRET_ACCESS_KEY,
    &sprites::BASE_URL,
    &sprites::INSTALL,
    &sprites::TOKEN,
    &sse::MAX_PER_TOKEN,
    &sse::MAX_PER_USER,
    &telemetry::OTLP_ENDPOINT,
    &tls::CERT,
    &tls::KEY,
];

/// The setting with this key.
#[must_use]
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().copied().find(|setting| setting.key == key)
}

impl Kind {
    /// What the file should hold, with an example.
    #[must_use]
    pub fn wanted(self) -> &'static str {
        match self {
            Self::Text => "a text such as \"…\"",
            Self::Integer => "a whole number such as 10",
            Self::Boolean => "true or false",
            Self::List => "a list of texts such as [\"…\", \"…\"]",
        }
    }
}

impl Fallback {
    /// How the guide describes it.
    #[must_use]
    pub fn shown(self) -> &'static str {
        match self {
            Self::Fixed(text) | Self::Derived { shown: text, .. } => text,
            Self::Unset => "",
        }
    }
}

/// The parts of a list that was given as text.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

/// Of a secret nothing is shown.
pub(super) fn hidden(_: &str) -> String {
    mainstay_base::secret::MASK.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_list_is_sorted_and_every_name_is_given_once() {
        let keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        assert_eq!(keys, sorted);

        let names: Vec<_> = SETTINGS
            .iter()
            .flat_map(|setting| setting.variables.iter().chain([&setting.key]))
            .collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len());
        // Each command has flags of its own: both `serve` and `work` listen.
        let flags = |prefix: &str| {
            let of = SETTINGS.iter().filter(|setting| setting.key.starts_with(prefix));
            of.filter_map(|setting| setting.flag).collect::<Vec<_>>()
        };
        assert_eq!(
            (flags("http.listen"), flags("jobs.listen")),
            (vec!["--listen"], vec!["--listen"])
        );
        let others: Vec<_> = flags("").into_iter().filter(|flag| *flag != "--listen").collect();
        assert_eq!(others.len(), others.iter().collect::<BTreeSet<_>>().len());
    }

    #[test]
    fn every_setting_has_a_variable_and_one_line_of_help() {
        for setting in SETTINGS {
            assert!(!setting.variables.is_empty(), "{}", setting.key);
            assert!(!setting.help.is_empty() && !setting.help.contains('\n'), "{}", setting.key);
        }
    }
}
