//! The configuration: [`setting`] (what there is) → [`environment`], [`file`](mod@file) → [`layers`] (who
//! wins) → [`reader`] and one file per concern (typed values) → [`print`](mod@print).

pub mod accounts;
mod address;
pub mod client;
pub mod data;
pub mod database;
pub mod environment;
pub mod events;
pub mod file;
pub mod fleet;
pub mod fly;
pub mod history;
pub mod http;
pub mod jobs;
pub mod layers;
pub mod llm;
pub mod log;
pub mod mail;
pub mod metrics;
mod nearest;
pub mod network;
pub mod outbound;
pub mod poll;
mod postgres;
pub mod print;
pub mod problem;
mod provider;
pub mod reader;
pub mod secrets;
pub mod setting;
pub mod sprites;
pub mod sse;
pub mod stage;
pub mod storage;
pub mod telemetry;
pub mod tls;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mainstay_base::Secret;

use mainstay_http::SettingView;
use mainstay_monitor::PollPolicy;
use mainstay_monitor::latency::Retention;
use mainstay_outbound::{BlobPlace, MailConfig};

pub use accounts::AccountsConfig;
pub use client::ClientConfig;
pub use database::{DatabaseConfig, DatabaseKind};
pub use events::EventsConfig;
pub use fleet::FleetConfig;
pub use http::{HttpConfig, ListenAddress, PublicUrl};
pub use jobs::JobsConfig;
pub use layers::{Flags, Input, Layers};
pub use llm::LlmConfig;
pub use log::{LogConfig, LogFormat};
pub use metrics::MetricsConfig;
pub(crate) use nearest::nearest;
pub use network::Network;
pub use outbound::OutboundConfig;
pub use problem::ConfigError;
pub use setting::{SETTINGS, Setting};
pub use sse::SseConfig;
pub use stage::Stage;
pub use telemetry::TelemetryConfig;
pub use tls::TlsFiles;

use reader::Reader;

/// Everything that can be set, checked and typed.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder for everything that Mainstay keeps.
    pub data_dir: PathBuf,
    /// What this Mainstay is for.
    pub stage: Stage,
    /// What protects accounts.
    pub accounts: AccountsConfig,
    /// Where transcripts and reports are stored.
    pub blobs: BlobPlace,
    /// The database.
    pub database: DatabaseConfig,
    /// How long events can be read again.
    pub events: EventsConfig,
    /// How the fleet is looked at, and where its machines come from.
    pub fleet: FleetConfig,
    /// The address that Mainstay listens on, and how it is reached.
    pub http: HttpConfig,
    /// How long what was measured and what happened are kept.
    pub history: Retention,
    /// How background work is run.
    pub jobs: JobsConfig,
    /// The certificate, where Mainstay speaks TLS itself.
    pub tls: Option<TlsFiles>,
    /// Who writes incident reports.
    pub llm: LlmConfig,
    /// What is logged, and how.
    pub log: LogConfig,
    /// Where mail goes, where it is sent at all.
    pub mail: Option<MailConfig>,
    /// Who may read the metrics.
    pub metrics: MetricsConfig,
    /// What Mainstay may call.
    pub outbound: OutboundConfig,
    /// How services are polled.
    pub poll: PollPolicy,
    /// The secrets that journeys may use, by name.
    pub secrets: BTreeMap<String, Secret<String>>,
    /// How many live streams one caller may hold.
    pub sse: SseConfig,
    /// Where traces are sent.
    pub telemetry: TelemetryConfig,
    /// Every setting as it may be seen: secrets masked.
    pub shown: Vec<SettingView>,
}

/// A configuration with what it was made from.
#[derive(Debug)]
pub struct Loaded {
    /// The typed values.
    pub config: Config,
    /// The texts with their origins.
    pub layers: Layers,
    /// What should be logged once logging works.
    pub warnings: Vec<String>,
}

impl Config {
    /// Whether only this machine reaches Mainstay: it listens on loopback, has no public address
    /// and trusts no proxy.
    #[must_use]
    pub fn alone(&self) -> bool {
        let http = &self.http;
        http.listen.is_loopback() && http.public_url.is_none() && http.trusted_proxies.is_empty()
    }
}

/// Reads, checks and types a whole configuration.
///
/// # Errors
/// Every problem that was found, not only the first.
pub fn load(input: Input) -> Result<Loaded, ConfigError> {
    let mut problems = ConfigError::default();
    let layers = Layers::gather(input, &mut problems);
    let mut reader = Reader::new(&layers, problems);
    let config = read(&mut reader);
    let warnings = reader.finish()?;
    // Whoever gives no value has noted a problem, so that `finish` has left already.
    let mut config = config.ok_or_else(ConfigError::default)?;
    config.shown = print::shown(&layers);
    config.secrets = layers.secrets.values();
    Ok(Loaded { config, layers, warnings })
}

/// Reads, checks and types what a command needs that talks to a server, and nothing else.
///
/// # Errors
/// Every problem that was found, not only the first.
pub fn load_client(input: Input) -> Result<ClientConfig, ConfigError> {
    let mut problems = ConfigError::default();
    let layers = Layers::gather(input, &mut problems);
    let mut reader = Reader::new(&layers, problems);
    let client = client::read(&mut reader);
    reader.finish()?;
    // Whoever gives no value has noted a problem, so that `finish` has left already.
    client.ok_or_else(ConfigError::default)
}

fn read(reader: &mut Reader<'_>) -> Option<Config> {
    let data_dir = data::read(reader);
    let stage = stage::read(reader);
    let accounts = accounts::read(reader);
    let blobs = storage::read(reader, data_dir.as_deref());
    let database = database::read(reader);
    let events = events::read(reader);
    let history = history::read(reader);
    let http = http::read(reader);
    let jobs = jobs::read(reader);
    let tls = tls::read(reader);
    let log = log::read(reader);
    let mail = mail::read(reader);
    let metrics = metrics::read(reader);
    let outbound = outbound::read(reader);
    let fleet = fleet::read(reader, outbound.as_ref());
    let llm = llm::read(reader, stage, outbound.as_ref());
    let poll = poll::read(reader);
    let sse = sse::read(reader);
    let telemetry = telemetry::read(reader);
    Some(Config {
        data_dir: data_dir?,
        stage: stage?,
        accounts: accounts?,
        blobs: blobs?,
        database: database?,
        events: events?,
        fleet: fleet?,
        history: history?,
        http: http?,
        jobs: jobs?,
        tls: tls?,
        llm: llm?,
        log: log?,
        mail: mail?,
        metrics: metrics?,
        outbound: outbound?,
        poll: poll?,
        secrets: BTreeMap::new(),
        sse: sse?,
        telemetry: telemetry?,
        shown: Vec::new(),
    })
}

#[cfg(test)]
pub(crate) mod testing {
    use super::file::FileText;
    use super::{Flags, Input};

    pub(crate) fn input(flags: Flags, variables: &[(&str, &str)], file: &str) -> Input {
        Input {
            flags,
            variables: variables.iter().map(|(name, value)| (name.into(), value.into())).collect(),
            file: Ok(Some(FileText { path: "mainstay.toml".to_owned(), text: file.to_owned() })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::input;
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Result<Config, String> {
        load(input(vec![], variables, ""))
            .map(|loaded| loaded.config)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn with_nothing_given_everything_has_its_default() {
        let config = config(&[]).unwrap();
        assert_eq!(config.data_dir, PathBuf::from("./mainstay-data"));
        let path = PathBuf::from("./mainstay-data/mainstay.db");
        assert_eq!(config.database.kind, DatabaseKind::Sqlite { path });
        assert_eq!(config.database.connections, 10);
        assert_eq!(config.http.listen.to_string(), "127.0.0.1:7373");
        assert_eq!(config.http.max_connections, 10_000);
        assert_eq!(config.tls, None);
        assert_eq!(config.log.format, LogFormat::Auto);
        assert!(config.mail.is_none());
        assert!(!config.metrics.public);
        assert_eq!(config.telemetry, TelemetryConfig::default());
    }

    #[test]
    fn alone_means_loopback_without_public_address_or_proxy() {
        let alone = |variables: &[(&str, &str)]| config(variables).unwrap().alone();
        for (listen, expected) in [
            ("127.0.0.1:7373", true),
            ("127.0.0.2:7373", true),
            ("[::1]:7373", true),
            ("localhost:7373", true),
            ("0.0.0.0:7373", false),
            ("[::]:7373", false),
            ("10.0.0.5:7373", false),
            ("mainstay.internal:7373", false),
        ] {
            assert_eq!(alone(&[("MAINSTAY_LISTEN", listen)]), expected, "{listen}");
        }
        assert!(alone(&[]));
        assert!(!alone(&[("MAINSTAY_PUBLIC_URL", "http://localhost:7373")]));
        assert!(!alone(&[("MAINSTAY_TRUSTED_PROXIES", "127.0.0.1")]));
    }

    #[test]
    fn all_problems_of_all_places_are_told_at_once() {
        let flags: Flags = vec![(&http::LISTEN, "nowhere".to_owned())];
        let variables = [
            ("MAINSTAY_LSTEN", "x"),
            ("DATABASE_URL", "mysql://u:hunter2@h/d"),
            ("MAINSTAY_METRICS_PUBLIC", "maybe"),
            ("MAINSTAY_TLS_KEY", "key.pem"),
        ];
        let text = load(input(flags, &variables, "colour = 'red'")).unwrap_err().to_string();
        for part in [
            "6 problems",
            "MAINSTAY_LSTEN in the environment is not a setting; did you mean MAINSTAY_LISTEN?",
            "mainstay.toml:1: \"colour\" is not a setting",
            "database.url from DATABASE_URL: the value is not a database",
            "http.listen from --listen: \"nowhere\" is not an address with a port",
            "metrics.public from MAINSTAY_METRICS_PUBLIC: \"maybe\" is neither true nor false",
            "tls.key is set but tls.cert is not; set both or neither",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("hunter2"), "{text}");
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let both = [("MAINSTAY_TLS_CERT", "c.pem"), ("MAINSTAY_TLS_KEY", "k.pem")];
        let files = config(&both).unwrap().tls.unwrap();
        assert_eq!(files, TlsFiles { cert: "c.pem".into(), key: "k.pem".into() });
        let reason = config(&[("MAINSTAY_TLS_CERT", "c.pem")]).unwrap_err();
        assert_eq!(reason, "tls.cert is set but tls.key is not; set both or neither");
    }

    #[test]
    fn the_debug_print_of_a_configuration_holds_no_password() {
        let shown = format!("{:?}", config(&[("DATABASE_URL", "postgres://u:hunter2@h/d")]));
        assert!(shown.contains("postgres://u:[secret]@h/d"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
