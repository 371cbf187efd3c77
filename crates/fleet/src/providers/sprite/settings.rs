//! Where the API is, and how the agent gets on a sprite.

use std::time::Duration;

use mainstay_base::Secret;
use url::Url;

use crate::providers::api::ApiSettings;

/// Where the API is, unless the operator says otherwise.
pub const BASE_URL: &str = "https://api.sprites.dev";

/// The port of the agent on its sprite, which the sprite's address leads to.
pub const AGENT_PORT: u16 = 8080;

/// Where the API is, and how the agent gets on a sprite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpriteSettings {
    /// Where, and by which token.
    pub api: ApiSettings,
    /// A shell command that brings the program `mainstay` on the sprite's `PATH`, where it is not there
    /// already.
    pub install: Option<String>,
    /// How often is looked while something is waited for.
    pub look_every: Duration,
}

impl SpriteSettings {
    /// Sprites by this token, with everything else by default.
    #[must_use]
    pub const fn new(base_url: Url, token: Secret<String>) -> Self {
        let api = ApiSettings::new(base_url, token);
        Self { api, install: None, look_every: Duration::from_millis(500) }
    }
}
