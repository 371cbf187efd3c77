//! A service as people define it, checked field by field.

use std::sync::Arc;
use std::time::Duration;

use mainstay_base::Id;
use mainstay_kernel::HostKey;
use serde_json::Value;

use super::address::{Address, AddressError};
use super::headers::{self, Header, HeaderError};
use super::line::{self, LineError};
use crate::formats::{Format, FormatError};
use crate::names::compared;
use crate::policy::{
    DEFAULT_INTERVAL, DEFAULT_TIMEOUT, LONGEST_INTERVAL, LONGEST_TIMEOUT, SHORTEST_INTERVAL,
    SHORTEST_TIMEOUT,
};
use crate::watch::{Endpoint, ServiceNumber, Watch};

/// A definition as it was given; what is `None` gets its default.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub team: Option<String>,
    /// Where to ask.
    pub health_endpoint: String,
    /// How to read the answer.
    pub format: Option<String>,
    /// Where in the answer the dependencies stand.
    pub schema_config: Option<Value>,
    /// How often to ask.
    pub poll_interval_ms: Option<i64>,
    /// How long one request may take.
    pub timeout_ms: Option<i64>,
    /// Further headers of the request.
    pub headers: Vec<Header>,
    /// Whether it is polled.
    pub is_active: Option<bool>,
}

/// A definition that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub(super) name: String,
    pub(super) team: Option<String>,
    pub(super) url: String,
    pub(super) host: HostKey,
    pub(super) format: Format,
    pub(super) interval: Duration,
    pub(super) timeout: Duration,
    pub(super) headers: Vec<Header>,
    pub(super) is_active: bool,
}

/// A field that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// `name`
    #[error("`name` is {0}")]
    Name(LineError),
    /// `team`
    #[error("`team` is {0}")]
    Team(LineError),
    /// `health_endpoint`
    #[error("`health_endpoint` is {0}")]
    HealthEndpoint(AddressError),
    /// `format`
    #[error(transparent)]
    Format(FormatError),
    /// `schema_config`
    #[error(transparent)]
    SchemaConfig(FormatError),
    /// `poll_interval_ms`
    #[error(
        "`poll_interval_ms` is {given}; give from {} to {}",
        SHORTEST_INTERVAL.as_millis(), LONGEST_INTERVAL.as_millis()
    )]
    PollInterval {
        /// What was given.
        given: i64,
    },
    /// `timeout_ms`
    #[error(
        "`timeout_ms` is {given}; give from {} to {}",
        SHORTEST_TIMEOUT.as_millis(), LONGEST_TIMEOUT.as_millis()
    )]
    Timeout {
        /// What was given.
        given: i64,
    },
    /// `headers`
    #[error("`headers` are {0}")]
    Headers(HeaderError),
}

impl Invalid {
    /// The field, as it is written.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Name(_) => "name",
            Self::Team(_) => "team",
            Self::HealthEndpoint(_) => "health_endpoint",
            Self::Format(_) => "format",
            Self::SchemaConfig(_) => "schema_config",
            Self::PollInterval { .. } => "poll_interval_ms",
            Self::Timeout { .. } => "timeout_ms",
            Self::Headers(_) => "headers",
        }
    }
}

impl Definition {
    /// Checks a draft.
    ///
    /// # Errors
    /// [`Invalid`] names the first field that does not hold, and what would.
    pub fn check(draft: Draft) -> Result<Self, Invalid> {
        let name = line::parse(&draft.name).map_err(Invalid::Name)?;
        let team = draft.team.as_deref().map(line::parse).transpose().map_err(Invalid::Team)?;
        let Address { url, host } =
            Address::parse(&draft.health_endpoint).map_err(Invalid::HealthEndpoint)?;
        let format = format_of(draft.format.as_deref(), draft.schema_config.as_ref())?;
        let interval =
            within(draft.poll_interval_ms, DEFAULT_INTERVAL, [SHORTEST_INTERVAL, LONGEST_INTERVAL])
                .map_err(|given| Invalid::PollInterval { given })?;
        let timeout =
            within(draft.timeout_ms, DEFAULT_TIMEOUT, [SHORTEST_TIMEOUT, LONGEST_TIMEOUT])
                .map_err(|given| Invalid::Timeout { given })?;
        let headers = headers::check(draft.headers).map_err(Invalid::Headers)?;
        let is_active = draft.is_active.unwrap_or(true);
        Ok(Self { name, team, url, host, format, interval, timeout, headers, is_active })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is asked: a whole URL, in one spelling.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// How often it is asked.
    #[must_use]
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    /// What polls it where nothing is stored: under a number that is given once, and the revision that
    /// it came with.
    #[must_use]
    pub fn watch(&self, number: ServiceNumber, id: Id, revision: i64) -> Watch {
        let headers = self.headers.clone();
        let endpoint = Endpoint::new(self.host.clone(), self.url.clone(), headers, self.timeout);
        Watch {
            number,
            id,
            name: self.name.as_str().into(),
            endpoint: Arc::new(endpoint),
            format: Arc::new(self.format.clone()),
            interval: self.interval,
            revision,
            generation: 1,
            lease: None,
        }
    }

    /// The name as it is compared with others.
    pub(crate) fn name_key(&self) -> String {
        compared(&self.name)
    }

    /// The draft that makes this definition, with every default written out.
    pub(crate) fn draft(&self) -> Draft {
        let config = self.format.schema_config();
        Draft {
            name: self.name.clone(),
            team: self.team.clone(),
            health_endpoint: self.url.clone(),
            format: Some(self.format.name().to_owned()),
            // The mapping wrote it: it is JSON.
            schema_config: config.and_then(|text| serde_json::from_str(&text).ok()),
            poll_interval_ms: Some(millis(self.interval)),
            timeout_ms: Some(millis(self.timeout)),
            headers: self.headers.clone(),
            is_active: Some(self.is_active),
        }
    }

    pub(super) fn team_key(&self) -> Option<String> {
        self.team.as_deref().map(compared)
    }
}

/// A format by its name, or the default one.
///
/// # Errors
/// [`Invalid::Format`] or [`Invalid::SchemaConfig`].
pub fn format_of(name: Option<&str>, config: Option<&Value>) -> Result<Format, Invalid> {
    let config = config.filter(|config| !config.is_null()).map(Value::to_string);
    let name = name.unwrap_or(Format::ProactiveDeps.name());
    Format::parse(name, config.as_deref()).map_err(|error| match error {
        FormatError::UnknownFormat { .. } => Invalid::Format(error),
        _ => Invalid::SchemaConfig(error),
    })
}

/// A duration as the database and the wire have it.
pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn within(given: Option<i64>, default: Duration, bounds: [Duration; 2]) -> Result<Duration, i64> {
    let Some(given) = given else { return Ok(default) };
    let duration = u64::try_from(given).map(Duration::from_millis).map_err(|_| given)?;
    let [shortest, longest] = bounds;
    if (shortest..=longest).contains(&duration) { Ok(duration) } else { Err(given) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft() -> Draft {
        Draft {
            name: " Orders ".to_owned(),
            health_endpoint: "https://orders.example.org/health".to_owned(),
            ..Draft::default()
        }
    }

    #[test]
    fn a_draft_with_every_default_makes_the_same_definition() {
        let config = json!({"root": "checks", "fields": {"name": "id", "healthy": "ok"}});
        let mapped = Draft {
            format: Some("schema".to_owned()),
            schema_config: Some(config),
            team: Some("Shop".to_owned()),
            is_active: Some(false),
            ..draft()
        };
        for draft in [draft(), mapped] {
            let definition = Definition::check(draft).unwrap();
            assert_eq!(Definition::check(definition.draft()).unwrap(), definition);
        }
    }

    #[test]
    fn what_is_not_given_gets_its_default() {
        let definition = Definition::check(draft()).unwrap();
        assert_eq!(definition.name(), "Orders");
        assert_eq!(definition.name_key(), "orders");
        assert_eq!((definition.interval, definition.timeout), (DEFAULT_INTERVAL, DEFAULT_TIMEOUT));
        assert_eq!((definition.format.name(), definition.is_active), ("proactive-deps", true));
    }

    #[test]
    fn each_field_is_refused_by_its_name() {
        let with = |change: fn(&mut Draft)| {
            let mut draft = draft();
            change(&mut draft);
            Definition::check(draft).unwrap_err().to_string()
        };
        let long = |draft: &mut Draft| draft.name = "ä".repeat(101);
        for (told, says) in [
            (with(|draft| draft.name = " ".to_owned()), "`name` is empty"),
            (with(|draft| draft.name = "a\nb".to_owned()), "`name` is not one line"),
            (with(long), "`name` is longer than 100 characters"),
            (with(|draft| draft.team = Some(String::new())), "`team` is empty"),
            (with(|draft| draft.health_endpoint = "x".to_owned()), "`health_endpoint` is no URL"),
            (with(|draft| draft.format = Some("xml".to_owned())), "there is no format \"xml\""),
            (with(|draft| draft.format = Some("schema".to_owned())), "needs schema_config"),
            (with(|draft| draft.schema_config = Some(json!({}))), "takes no schema_config"),
            (
                with(|draft| draft.poll_interval_ms = Some(4_999)),
                "is 4999; give from 5000 to 3600000",
            ),
            (with(|draft| draft.poll_interval_ms = Some(3_600_001)), "give from 5000 to 3600000"),
            (with(|draft| draft.poll_interval_ms = Some(-1)), "`poll_interval_ms` is -1"),
            (
                with(|draft| draft.timeout_ms = Some(99)),
                "`timeout_ms` is 99; give from 100 to 30000",
            ),
            (with(|draft| draft.timeout_ms = Some(30_001)), "`timeout_ms` is 30001"),
        ] {
            assert!(told.contains(says), "{told}");
        }
        let mut bounds = draft();
        (bounds.poll_interval_ms, bounds.timeout_ms) = (Some(5_000), Some(30_000));
        assert!(Definition::check(bounds.clone()).is_ok());
        (bounds.poll_interval_ms, bounds.timeout_ms) = (Some(3_600_000), Some(100));
        assert!(Definition::check(bounds).is_ok());
    }
}
