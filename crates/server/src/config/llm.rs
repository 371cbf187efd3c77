//! Who writes reports: a model, nobody, or, for tests and the demo, Mainstay itself.

use std::ops::RangeInclusive;
use std::time::Duration;

use mainstay_base::Secret;
use mainstay_reports::llm::{OpenAiSettings, openai};

use super::address;
use super::layers::bad_value;
use super::outbound::OutboundConfig;
use super::problem::Reason;
use super::provider::{base_url, shows_token};
use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting, hidden};
use super::stage::Stage;

/// A model on this host.
const EXAMPLE: &str = "http://127.0.0.1:11434/v1";
/// Who writes.
pub const PROVIDER: Setting = Setting {
    key: "llm.provider",
    variables: &["LLM_PROVIDER", "MAINSTAY_LLM_PROVIDER"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Who writes incident reports: openai (any server with the Responses API) or fake (no model, for tests); without it openai when there is a key, else reports are off",
};

/// Which model.
pub const MODEL: Setting = Setting {
    key: "llm.model",
    variables: &["LLM_MODEL", "MAINSTAY_LLM_MODEL"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Fixed(openai::MODEL),
    mask: None,
    help: "Language model that writes incident reports",
};

/// The key of the provider.
pub const API_KEY: Setting = Setting {
    key: "llm.api_key",
    variables: &["LLM_API_KEY", "MAINSTAY_LLM_API_KEY"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "Key of the provider of the language model",
};

/// Where the provider is.
pub const BASE_URL: Setting = Setting {
    key: "llm.base_url",
    variables: &["LLM_BASE_URL", "MAINSTAY_LLM_BASE_URL"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Fixed(openai::BASE_URL),
    mask: Some(address::masked),
    help: "Address that /responses is below, such as http://127.0.0.1:11434/v1 for a model of your own",
};

/// How long it may take.
pub const TIMEOUT_MS: Setting = Setting {
    key: "llm.timeout_ms",
    variables: &["LLM_TIMEOUT_MS", "MAINSTAY_LLM_TIMEOUT_MS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("180000"),
    mask: None,
    help: "Milliseconds that the language model may take for one report, 1000 to 480000",
};

/// A job may run for ten minutes as a whole.
const TIMEOUTS_MS: RangeInclusive<u32> = 1_000..=480_000;

/// The longest name of a model.
const MAX_MODEL: usize = 200;

/// Who writes reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LlmConfig {
    /// Nobody: reports are off.
    Off,
    /// Mainstay itself, without a model.
    Fake,
    /// A model behind the Responses API.
    OpenAi(OpenAiSettings),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    OpenAi,
    Fake,
}

/// Reads who writes reports. The provider's certificate may be of an authority that services' are.
pub(super) fn read(
    reader: &mut Reader<'_>,
    stage: Option<Stage>,
    outbound: Option<&OutboundConfig>,
) -> Option<LlmConfig> {
    let provider = reader.optional(&PROVIDER, provider);
    let model = reader.required(&MODEL, model);
    let api_key = reader.optional(&API_KEY, api_key);
    let base_url = reader.required(&BASE_URL, |text| base_url(text, EXAMPLE));
    let timeout = reader.required(&TIMEOUT_MS, |text| number(text, TIMEOUTS_MS));
    let (provider, api_key) = (provider?, api_key?);
    check(reader, provider, api_key.is_some(), stage?)?;
    let timeout = Duration::from_millis(u64::from(timeout?));
    let settings = OpenAiSettings::new(base_url?, &model?, api_key.clone());
    let settings = OpenAiSettings { timeout, ca_file: outbound?.ca_file.clone(), ..settings };
    let config = match provider {
        Some(Provider::Fake) => LlmConfig::Fake,
        Some(Provider::OpenAi) => LlmConfig::OpenAi(settings),
        None if api_key.is_some() => LlmConfig::OpenAi(settings),
        None if stage == Some(Stage::Test) => LlmConfig::Fake,
        None => LlmConfig::Off,
    };
    if matches!(&config, LlmConfig::OpenAi(settings) if shows_token(&settings.base_url)) {
        reader.warn(
            "llm.base_url is plain http on another host: transcripts, reports and the key of the \
             language model go over the network in the clear; use https://"
                .to_owned(),
        );
    }
    Some(config)
}

/// In production nobody is served a report that no model wrote, nor one that can't be had.
fn check(
    reader: &mut Reader<'_>,
    provider: Option<Provider>,
    has_key: bool,
    stage: Stage,
) -> Option<()> {
    let is_default_address =
        reader.raw(&BASE_URL).is_none_or(|value| value.text.trim() == openai::BASE_URL);
    let reason: Reason = match (provider, stage) {
        (Some(Provider::Fake), Stage::Production) => {
            "writes no real report, and MAINSTAY_ENV is production; set LLM_PROVIDER=openai with LLM_API_KEY, or leave LLM_PROVIDER out".into()
        }
        (Some(Provider::OpenAi), Stage::Production) if !has_key => {
            "needs LLM_API_KEY, which is not set, and MAINSTAY_ENV is production; set LLM_API_KEY".into()
        }
        (Some(Provider::OpenAi), _) if !has_key && is_default_address => {
            "needs LLM_API_KEY, or LLM_BASE_URL for a model of your own; set one of them".into()
        }
        (None, Stage::Production | Stage::Development) if !has_key && !is_default_address => {
            reader.warn(
                "llm.base_url is set, but reports are off: set LLM_PROVIDER=openai, or LLM_API_KEY"
                    .to_owned(),
            );
            return Some(());
        }
        _ => return Some(()),
    };
    let value = reader.raw(&PROVIDER)?;
    reader.problem(bad_value(&PROVIDER, value, reason));
    None
}

fn provider(text: &str) -> Result<Provider, Reason> {
    match text.trim() {
        "openai" => Ok(Provider::OpenAi),
        "fake" => Ok(Provider::Fake),
        _ => Err("is neither openai nor fake; give one of them".into()),
    }
}

fn model(text: &str) -> Result<String, Reason> {
    let name = text.trim();
    let fits = !name.is_empty() && name.len() <= MAX_MODEL && !name.chars().any(char::is_control);
    fits.then(|| name.to_owned()).ok_or_else(|| "is no name of a model; give one".into())
}

/// No reason repeats the text: it is a secret.
fn api_key(text: &str) -> Result<Secret<String>, Reason> {
    let key = text.trim();
    let fits = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| Secret::new(key.to_owned()))
        .ok_or_else(|| "is no key; give the provider's, without white space".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::testing::input;
    use crate::config::{Loaded, load, print::print};

    const KEY: (&str, &str) = ("LLM_API_KEY", "sk-hunter2");
    const PRODUCTION: (&str, &str) = ("MAINSTAY_ENV", "production");
    const TEST: (&str, &str) = ("MAINSTAY_ENV", "test");
    const OPENAI: (&str, &str) = ("LLM_PROVIDER", "openai");
    const FAKE: (&str, &str) = ("LLM_PROVIDER", "fake");
    const OWN: (&str, &str) = ("LLM_BASE_URL", "http://127.0.0.1:11434/v1");

    fn loaded(variables: &[(&str, &str)]) -> Result<Loaded, String> {
        load(input(vec![], variables, "")).map_err(|error| error.to_string())
    }

    fn word(variables: &[(&str, &str)]) -> &'static str {
        match loaded(variables).unwrap().config.llm {
            LlmConfig::Off => "off",
            LlmConfig::Fake => "fake",
            LlmConfig::OpenAi(_) => "openai",
        }
    }

    #[test]
    fn who_writes_by_what_is_given() {
        for (variables, expected) in [
            (&[][..], "off"),
            (&[PRODUCTION], "off"),
            (&[KEY], "openai"),
            (&[KEY, PRODUCTION], "openai"),
            (&[OPENAI, KEY], "openai"),
            (&[OPENAI, OWN], "openai"),
            (&[OWN], "off"),
            (&[FAKE], "fake"),
            (&[TEST], "fake"),
            (&[TEST, KEY], "openai"),
            (&[TEST, OPENAI, OWN], "openai"),
            (&[FAKE, KEY], "fake"),
        ] {
            assert_eq!(word(variables), expected, "{variables:?}");
        }
    }

    #[test]
    fn production_refuses_by_name_what_writes_no_real_report() {
        for (variables, told) in [
            (&[PRODUCTION, FAKE][..], "llm.provider from LLM_PROVIDER: \"fake\" writes no real"),
            (&[PRODUCTION, FAKE, KEY], "\"fake\" writes no real report"),
            (&[PRODUCTION, OPENAI], "\"openai\" needs LLM_API_KEY, which is not set"),
            (&[PRODUCTION, OPENAI, OWN], "\"openai\" needs LLM_API_KEY"),
            (&[OPENAI], "\"openai\" needs LLM_API_KEY, or LLM_BASE_URL"),
        ] {
            let text = loaded(variables).unwrap_err();
            assert!(text.contains(told), "{variables:?}: {text}");
        }
    }

    #[test]
    fn all_of_it_can_be_set_and_the_key_is_hidden() {
        let given = [
            KEY,
            OWN,
            ("LLM_MODEL", "llama"),
            ("LLM_TIMEOUT_MS", "5000"),
            ("MAINSTAY_OUTBOUND_CA_FILE", "ca.pem"),
        ];
        let loaded = loaded(&given).unwrap();
        let LlmConfig::OpenAi(settings) = &loaded.config.llm else { panic!("nobody writes") };
        assert_eq!((settings.model.as_str(), settings.timeout), ("llama", Duration::from_secs(5)));
        assert_eq!(settings.base_url.as_str(), "http://127.0.0.1:11434/v1");
        assert_eq!(settings.ca_file, Some("ca.pem".into()));
        let shown = format!("{:?} {}", loaded.config, print(&loaded.layers));
        assert!(!shown.contains("hunter2") && shown.contains("llm.api_key"), "{shown}");
    }

    #[test]
    fn with_nothing_but_a_key_everything_has_its_default() {
        let LlmConfig::OpenAi(settings) = loaded(&[KEY]).unwrap().config.llm else { panic!() };
        assert_eq!(settings.model, "gpt-5-mini");
        assert_eq!(settings.base_url.as_str(), "https://api.openai.com/v1");
        assert_eq!(settings.timeout, Duration::from_mins(3));
    }

    #[test]
    fn what_is_wrong_is_told_without_the_key() {
        for (variable, told) in [
            (("LLM_PROVIDER", "anthropic"), "is neither openai nor fake"),
            (("LLM_API_KEY", "hunter2 hunter2"), "the value is no key"),
            (("LLM_BASE_URL", "llm.example"), "is no web address"),
            (("LLM_BASE_URL", "http://u:hunter2@llm.example"), "the value is no web address"),
            (("LLM_TIMEOUT_MS", "0"), "is not a whole number from 1000 to 480000"),
            (("MAINSTAY_ENV", "prod"), "is neither production nor development nor test"),
        ] {
            let text = loaded(&[variable]).unwrap_err();
            assert!(text.contains(told) && !text.contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn an_address_without_a_provider_is_warned_about() {
        let warnings = loaded(&[OWN]).unwrap().warnings;
        assert!(warnings[0].contains("reports are off"), "{warnings:?}");
    }

    #[test]
    fn a_model_elsewhere_without_encryption_is_warned_about_where_it_is_asked() {
        let far = ("LLM_BASE_URL", "http://llm.example/v1");
        for (variables, is_warned) in [
            (&[OPENAI, far][..], true),
            (&[KEY, far], true),
            (&[FAKE, far], false),
            (&[KEY, OWN], false),
            (&[KEY, ("LLM_BASE_URL", "https://llm.example/v1")], false),
            (&[KEY], false),
        ] {
            let warnings = loaded(variables).unwrap().warnings;
            let told =
                warnings.iter().any(|warning| warning.contains("in the clear; use https://"));
            assert_eq!(told, is_warned, "{variables:?}: {warnings:?}");
        }
    }
}
