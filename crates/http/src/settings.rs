//! What is set, as it is shown to admins: every secret is masked before it comes here.

use serde::Serialize;
use utoipa::ToSchema;

/// One setting as it is in effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Setting)]
pub struct SettingView {
    /// Its name in the configuration file.
    #[schema(example = "http.listen")]
    pub key: &'static str,
    /// Its value as the file would hold it, secrets masked; `null` when it is not set.
    #[schema(required, example = "\"127.0.0.1:7373\"")]
    pub value: Option<String>,
    /// Whether something of the value is masked.
    pub masked: bool,
    /// Where the value comes from.
    pub source: SettingSource,
    /// The flag, variable or line of a file that gave it; `null` for a default and for what is not set.
    #[schema(required, example = "--listen")]
    pub source_name: Option<String>,
    /// What it is when nobody says anything; empty where that is nothing.
    #[schema(example = "127.0.0.1:7373")]
    pub default: &'static str,
    /// What it means.
    pub help: &'static str,
    /// The variables of the environment that set it, the usual one first.
    pub variables: &'static [&'static str],
    /// The flag that sets it, where there is one.
    #[schema(required)]
    pub flag: Option<&'static str>,
    /// Whether another value holds only after a restart.
    pub needs_restart: bool,
}

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    /// Nobody gave it.
    Default,
    /// The configuration file.
    File,
    /// The environment.
    Environment,
    /// The command line.
    Flag,
}
