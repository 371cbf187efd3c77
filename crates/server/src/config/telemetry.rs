//! Where traces are sent, in a build with the `otel` feature.

use url::Url;

use super::address;
use super::layers::bad_value;
use super::problem::{Origin, Reason};
use super::reader::Reader;
use super::setting::{Fallback, Kind, Setting};

/// The collector.
pub const OTLP_ENDPOINT: Setting = Setting {
    key: "telemetry.otlp_endpoint",
    variables: &["OTEL_EXPORTER_OTLP_ENDPOINT"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(address::masked),
    help: "OpenTelemetry collector for traces, such as http://127.0.0.1:4318; needs the otel feature",
};

/// Whether this build can send traces.
const CAN_EXPORT: bool = cfg!(feature = "otel");

/// Where traces go.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TelemetryConfig {
    /// The collector's address without a slash at its end.
    pub otlp_endpoint: Option<String>,
}

/// Reads the telemetry settings.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<TelemetryConfig> {
    read_for(reader, CAN_EXPORT)
}

fn read_for(reader: &mut Reader<'_>, can_export: bool) -> Option<TelemetryConfig> {
    if can_export {
        let otlp_endpoint = reader.optional(&OTLP_ENDPOINT, endpoint)?;
        return Some(TelemetryConfig { otlp_endpoint });
    }
    if let Some(value) = reader.raw(&OTLP_ENDPOINT) {
        match value.origin {
            // This name belongs to OpenTelemetry: a platform may set it for every program alike.
            Origin::Variable(name) => reader.warn(format!(
                "{name} is set, but this build can't send traces; build with --features otel"
            )),
            _ => {
                let reason = "can't be used by this build; build with --features otel".into();
                reader.problem(bad_value(&OTLP_ENDPOINT, value, reason));
                return None;
            }
        }
    }
    Some(TelemetryConfig::default())
}

fn endpoint(text: &str) -> Result<String, Reason> {
    let url = Url::parse(text.trim())
        .ok()
        .filter(|url| url.scheme() == "http" && url.has_host())
        .ok_or("is not a plain http address; give one such as http://127.0.0.1:4318")?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        return Err("holds a user or a query; give one such as http://127.0.0.1:4318".into());
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layers::Layers;
    use crate::config::problem::ConfigError;
    use crate::config::testing::input;

    type Outcome = Result<(Option<String>, Vec<String>), String>;

    fn outcome(variables: &[(&str, &str)], file: &str, can_export: bool) -> Outcome {
        let mut problems = ConfigError::default();
        let layers = Layers::gather(input(vec![], variables, file), &mut problems);
        let mut reader = Reader::new(&layers, problems);
        let config = read_for(&mut reader, can_export);
        let warnings = reader.finish().map_err(|error| error.to_string())?;
        Ok((config.unwrap().otlp_endpoint, warnings))
    }

    const VARIABLE: [(&str, &str); 1] = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/")];
    const FILE: &str = "telemetry.otlp_endpoint = 'http://c:4318'";

    #[test]
    fn with_the_feature_both_ways_set_the_collector() {
        let expected = Some("http://c:4318".to_owned());
        assert_eq!(outcome(&VARIABLE, "", true), Ok((expected.clone(), vec![])));
        assert_eq!(outcome(&[], FILE, true), Ok((expected, vec![])));
    }

    #[test]
    fn without_the_feature_the_file_is_refused_and_the_variable_is_warned_about() {
        let refused = outcome(&[], FILE, false).unwrap_err();
        assert!(refused.contains("build with --features otel"), "{refused}");
        let (endpoint, warnings) = outcome(&VARIABLE, "", false).unwrap();
        assert_eq!(endpoint, None);
        assert!(warnings[0].contains("OTEL_EXPORTER_OTLP_ENDPOINT is set"), "{warnings:?}");
        assert_eq!(outcome(&[], "", false), Ok((None, vec![])));
    }

    #[test]
    fn no_password_of_a_collector_is_shown() {
        let file = "telemetry.otlp_endpoint = 'http://u:hunter2@c:4318'";
        for can_export in [true, false] {
            let refused = outcome(&[], file, can_export).unwrap_err();
            assert!(refused.contains("mainstay.toml:1: the value "), "{refused}");
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }

    #[test]
    fn only_a_plain_http_address_is_a_collector() {
        assert_eq!(endpoint("http://c:4318/base/").as_deref(), Ok("http://c:4318/base"));
        for text in ["", "c:4318", "https://c", "grpc://c", "http://u:p@c", "http://c?x=1"] {
            assert!(endpoint(text).is_err(), "{text}");
        }
    }
}
