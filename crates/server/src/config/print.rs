//! The effective configuration as TOML: sorted, each value with its origin, secrets masked.

use std::fmt::Write as _;

use mainstay_http::{SettingSource, SettingView};

use super::client;
use super::layers::{Layers, Value};
use super::problem::Origin;
use super::reader::boolean;
use super::setting::{Kind, SETTINGS, Setting, parts};

/// What `--print-config` shows. It is a valid configuration file.
#[must_use]
pub fn print(layers: &Layers) -> String {
    let mut text =
        String::from("# Flags win over the environment, over mainstay.toml, over defaults.\n");
    for setting in SETTINGS {
        // Writing to a String does not fail.
        let _ = match layers.get(setting) {
            Some(value) => {
                writeln!(text, "{} = {} # {}", setting.key, literal(setting, value), value.origin)
            }
            None => writeln!(text, "# {} is not set", setting.key),
        };
    }
    text.push_str(&layers.secrets.print());
    text
}

/// The same for the dashboard: each setting of a server on its own, with what it means.
#[must_use]
pub fn shown(layers: &Layers) -> Vec<SettingView> {
    let of_server = SETTINGS.iter().filter(|setting| !setting.key.starts_with(client::SECTION));
    of_server.map(|setting| view(setting, layers.get(setting))).collect()
}

fn view(setting: &Setting, value: Option<&Value>) -> SettingView {
    let origin = value.map_or(&Origin::Default, |value| &value.origin);
    let source = match origin {
        Origin::Flag(_) => SettingSource::Flag,
        Origin::Variable(_) => SettingSource::Environment,
        Origin::File { .. } => SettingSource::File,
        Origin::Default => SettingSource::Default,
    };
    let hidden =
        |mask: fn(&str) -> String| value.is_some_and(|value| mask(&value.text) != value.text);
    SettingView {
        key: setting.key,
        value: value.map(|value| literal(setting, value).to_string()),
        masked: setting.mask.is_some_and(hidden),
        source,
        source_name: (source != SettingSource::Default).then(|| origin.to_string()),
        default: setting.fallback.shown(),
        help: setting.help,
        variables: setting.variables,
        flag: setting.flag,
        // All of them are read once, at the start.
        needs_restart: true,
    }
}

fn literal(setting: &Setting, value: &Value) -> toml::Value {
    let text = match setting.mask {
        Some(mask) => mask(&value.text),
        None => value.text.clone(),
    };
    let typed = match setting.kind {
        Kind::Text => None,
        Kind::Integer => text.trim().parse().ok().map(toml::Value::Integer),
        Kind::Boolean => boolean(&text).ok().map(toml::Value::Boolean),
        Kind::List => Some(parts(&text).map(toml::Value::from).collect::<Vec<_>>().into()),
    };
    typed.unwrap_or(toml::Value::String(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::layers::Input;
    use crate::config::testing::input;
    use crate::config::{Loaded, database, http, load};
    use proptest::prelude::*;

    fn loaded(input: Input) -> Loaded {
        load(input).map_err(|error| error.to_string()).unwrap()
    }

    #[test]
    fn every_setting_is_shown_with_its_origin() {
        let flags = vec![(&http::LISTEN, "0.0.0.0:80".to_owned())];
        let variables =
            [("DATABASE_URL", "postgres://me:hunter2@db/main"), ("MAINSTAY_METRICS_PUBLIC", "1")];
        let file = "[http]\ntrusted_proxies = ['::1', '10.0.0.0/8']\nmax_connections = 50";
        insta::assert_snapshot!(print(&loaded(input(flags, &variables, file)).layers), @r#"
        # Flags win over the environment, over mainstay.toml, over defaults.
        accounts.audit_days = 400 # default
        # accounts.token_hash_pepper is not set
        # client.ca_file is not set
        client.insecure = false # default
        client.server = "http://127.0.0.1:7373" # default
        # client.token is not set
        # client.token_file is not set
        data_dir = "./mainstay-data" # default
        database.connections = 10 # default
        # database.direct_url is not set
        database.url = "postgres://me:[secret]@db/main" # DATABASE_URL
        environment = "development" # default
        events.keep_count = 1000000 # default
        events.keep_days = 7 # default
        fleet.sweep_ms = 60000 # default
        fly.agent_port = 7374 # default
        # fly.api_token is not set
        # fly.app is not set
        fly.base_url = "https://api.machines.dev" # default
        # fly.image is not set
        history.five_minute_days = 30 # default
        history.hourly_days = 400 # default
        history.missing_hours = 24 # default
        history.raw_hours = 48 # default
        http.address_burst = 1000 # default
        http.address_rate = 100 # default
        http.listen = "0.0.0.0:80" # --listen
        http.max_connections = 50 # mainstay.toml:3
        # http.public_url is not set
        http.trusted_proxies = ["::1", "10.0.0.0/8"] # mainstay.toml:2
        jobs.concurrency = 2 # default
        jobs.embedded = true # default
        # jobs.listen is not set
        jobs.lock_ttl_seconds = 300 # default
        jobs.poll_ms = 1000 # default
        # jobs.runner_id is not set
        jobs.stop_seconds = 30 # default
        # llm.api_key is not set
        llm.base_url = "https://api.openai.com/v1" # default
        llm.model = "gpt-5-mini" # default
        # llm.provider is not set
        llm.timeout_ms = 180000 # default
        log.format = "auto" # default
        log.level = "info" # default
        # mail.ca_file is not set
        # mail.from is not set
        # mail.server is not set
        metrics.public = true # MAINSTAY_METRICS_PUBLIC
        # outbound.allow is not set
        # outbound.ca_file is not set
        poll.cycle_ms = 5000 # default
        poll.max_concurrent_per_host = 5 # default
        poll.max_in_flight = 256 # default
        # s3.access_key_id is not set
        # s3.bucket is not set
        # s3.endpoint is not set
        # s3.region is not set
        # s3.secret_access_key is not set
        sprites.base_url = "https://api.sprites.dev" # default
        # sprites.install is not set
        # sprites.token is not set
        sse.max_per_token = 5 # default
        sse.max_per_user = 1 # default
        # telemetry.otlp_endpoint is not set
        # tls.cert is not set
        # tls.key is not set
        "#);
    }

    #[test]
    fn what_admins_see_names_its_source_and_holds_no_secret() {
        let flags = vec![(&http::LISTEN, "0.0.0.0:80".to_owned())];
        let variables = [
            ("DATABASE_URL", "postgres://me:hunter2@db/main"),
            ("TOKEN_HASH_PEPPER", "hunter2 hunter2 hunter2 hunter2 hunter2"),
            ("MAINSTAY_TOKEN", "mst_hunter2"),
            ("MAINSTAY_MAIL_SERVER", "smtp://me:hunter2@mail:587"),
            ("MAINSTAY_MAIL_FROM", "mainstay@example.com"),
        ];
        let shown = loaded(input(flags, &variables, "[http]\nmax_connections = 50")).config.shown;
        assert!(!format!("{shown:?}").contains("hunter2"), "{shown:?}");
        let of_client = ["ca_file", "insecure", "server", "token", "token_file"];
        assert_eq!(shown.len() + of_client.len(), SETTINGS.len());
        assert!(!shown.iter().any(|view| view.key.starts_with("client")), "{shown:?}");
        let told = |key: &str| {
            let found = shown.iter().find(|view| view.key == key).unwrap();
            let (value, name) = (found.value.as_deref(), found.source_name.as_deref());
            (value, found.source, name, found.masked)
        };
        for (key, expected) in [
            ("http.listen", (Some("\"0.0.0.0:80\""), SettingSource::Flag, Some("--listen"), false)),
            (
                "http.max_connections",
                (Some("50"), SettingSource::File, Some("mainstay.toml:2"), false),
            ),
            (
                "database.url",
                (
                    Some("\"postgres://me:[secret]@db/main\""),
                    SettingSource::Environment,
                    Some("DATABASE_URL"),
                    true,
                ),
            ),
            ("database.connections", (Some("10"), SettingSource::Default, None, false)),
            ("http.public_url", (None, SettingSource::Default, None, false)),
        ] {
            assert_eq!(told(key), expected, "{key}");
        }
    }

    fn texts(layers: &Layers) -> Vec<Option<String>> {
        SETTINGS
            .iter()
            .map(|setting| Some(literal(setting, layers.get(setting)?).to_string()))
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_as_the_same_values(
            folder in "[ -~äß\u{80}]{0,20}[a-z]",
            port in 0_u16..,
            connections in 2_u32..=100,
            proxies in proptest::collection::vec(any::<std::net::IpAddr>(), 0..4),
            public in any::<bool>(),
        ) {
            let proxies = proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let connections = format!("0{connections}");
            let first = loaded(input(
                vec![(&http::LISTEN, format!("localhost:{port}"))],
                &[
                    ("MAINSTAY_DATA_DIR", &folder),
                    ("MAINSTAY_DATABASE_CONNECTIONS", &connections),
                    ("MAINSTAY_TRUSTED_PROXIES", &proxies),
                    ("MAINSTAY_METRICS_PUBLIC", if public { "1" } else { "false" }),
                ],
                "",
            ));
            let second = loaded(input(vec![], &[], &print(&first.layers)));
            prop_assert_eq!(texts(&first.layers), texts(&second.layers));
            prop_assert_eq!(first.config.database.kind, second.config.database.kind);
        }
    }

    #[cfg(not(feature = "otel"))]
    #[test]
    fn the_password_of_a_collector_is_masked() {
        let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:hunter2@h:4318")];
        let text = print(&loaded(input(vec![], &variables, "")).layers);
        assert!(text.contains("otlp_endpoint = \"http://[secret]@h:4318/\""), "{text}");
    }

    #[test]
    fn a_masked_password_is_still_valid_toml() {
        let flags = vec![(&database::URL, "postgres://me:hunter2@db/main".to_owned())];
        let text = print(&loaded(input(flags, &[], "")).layers);
        assert!(text.parse::<toml::Table>().is_ok());
        assert!(!text.contains("hunter2"));
    }
}
