//! How the answer of a health endpoint is read: a [`Format`] makes a [`Report`] of its body.
//!
//! `split` cuts the body into items without reading them, `proactive` or `schema` reads each by
//! itself, `scalar`, `canonical` and `notes` read its values, and `collector` joins what came out: so what is
//! wrong with one item costs that item only. Whatever the body holds, the report stays within [`bounds`].

pub mod bounds;
mod canonical;
mod collector;
mod error;
mod notes;
mod proactive;
mod scalar;
mod schema;
mod split;

use std::sync::Arc;

use mainstay_base::Timestamp;
use serde_json::Value;

use crate::report::Report;
use bounds::clip;

pub use error::{BadBody, FormatError};
pub use schema::{Mapping, PathError};

/// The names of the formats, the default first.
pub const FORMAT_NAMES: [&str; 3] = [PROACTIVE_DEPS, SCHEMA, STATUS];

const PROACTIVE_DEPS: &str = "proactive-deps";
const SCHEMA: &str = "schema";
const STATUS: &str = "status";

/// What the body of an answer looks like.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Format {
    /// An array of dependencies in the proactive-deps format.
    #[default]
    ProactiveDeps,
    /// Any JSON, with a mapping that says where the dependencies stand.
    Schema(Arc<Mapping>),
    /// Nothing is read: an answer with a 2xx status is all there is to say.
    Status,
}

impl Format {
    /// The format of this name; `schema` needs its mapping as JSON text, the others have none.
    ///
    /// # Errors
    /// [`FormatError`], which names the key that is wrong.
    pub fn parse(name: &str, schema_config: Option<&str>) -> Result<Self, FormatError> {
        let config = schema_config.map(schema::config_value).transpose()?;
        Self::from_value(name, config.as_ref())
    }

    /// As [`Format::parse`], for a mapping that is read already. A JSON null is no mapping.
    ///
    /// # Errors
    /// [`FormatError`], which names the key that is wrong.
    pub fn from_value(name: &str, schema_config: Option<&Value>) -> Result<Self, FormatError> {
        match (name, schema_config.filter(|config| !config.is_null())) {
            (PROACTIVE_DEPS, None) => Ok(Self::ProactiveDeps),
            (STATUS, None) => Ok(Self::Status),
            (SCHEMA, Some(config)) => Ok(Self::Schema(Arc::new(Mapping::from_value(config)?))),
            (SCHEMA, None) => Err(FormatError::ConfigMissing),
            (PROACTIVE_DEPS | STATUS, Some(_)) => {
                Err(FormatError::ConfigUnused { format: clip(name, bounds::MAX_EXCERPT_CHARS) })
            }
            _ => Err(FormatError::UnknownFormat { name: clip(name, bounds::MAX_EXCERPT_CHARS) }),
        }
    }

    /// The name that [`Format::parse`] takes.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ProactiveDeps => PROACTIVE_DEPS,
            Self::Schema(_) => SCHEMA,
            Self::Status => STATUS,
        }
    }

    /// The mapping as canonical JSON, which [`Format::parse`] takes back.
    #[must_use]
    pub fn schema_config(&self) -> Option<String> {
        match self {
            Self::Schema(mapping) => Some(mapping.to_string()),
            Self::ProactiveDeps | Self::Status => None,
        }
    }

    /// What the body says. `now` stands in where the service does not say when it looked.
    ///
    /// # Errors
    /// [`BadBody`] when nothing can be made of it.
    pub fn read(&self, body: &[u8], now: Timestamp) -> Result<Report, BadBody> {
        match self {
            Self::ProactiveDeps => proactive::read(split::text(body)?, now),
            Self::Schema(mapping) => mapping.read(split::text(body)?, now),
            Self::Status => Ok(Report::default()),
        }
    }
}
