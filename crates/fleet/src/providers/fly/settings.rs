//! Where the API is, and what machines are made of.

use std::time::Duration;

use mainstay_base::Secret;
use url::Url;

use crate::providers::api::{ApiSettings, SetUpError};

/// Where the API is, unless the operator says otherwise.
pub const BASE_URL: &str = "https://api.machines.dev";

/// The port of the agent on its machine, on the private network.
pub const AGENT_PORT: u16 = 7374;

/// The longest name of an app.
const MAX_APP: usize = 63;

/// The longest name of an image.
const MAX_IMAGE: usize = 512;

/// Where the API is, and what machines are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlySettings {
    /// Where, and by which token.
    pub api: ApiSettings,
    /// The app that the machines belong to.
    pub app: String,
    /// An image with the program `mainstay`.
    pub image: String,
    /// The port of the agent.
    pub agent_port: u16,
    /// How often is tried what may succeed a moment later.
    pub pace: FlyPace,
}

/// How often is tried what may succeed a moment later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlyPace {
    /// The time between two tries at a start that is refused because the machine has not quite stopped.
    pub start_every: Duration,
    /// How long such a start is tried.
    pub start_for: Duration,
    /// The time between two looks for a machine that may have been made.
    pub look_up_every: Duration,
    /// How often is looked for one.
    pub look_ups: u32,
}

impl Default for FlyPace {
    /// A stop lingers for up to 8 seconds.
    fn default() -> Self {
        Self {
            start_every: Duration::from_millis(250),
            start_for: Duration::from_secs(15),
            look_up_every: Duration::from_secs(1),
            look_ups: 3,
        }
    }
}

impl FlySettings {
    /// Machines of this image in this app, with everything else by default.
    #[must_use]
    pub fn new(base_url: Url, token: Secret<String>, app: &str, image: &str) -> Self {
        Self {
            api: ApiSettings::new(base_url, token),
            app: app.to_owned(),
            image: image.to_owned(),
            agent_port: AGENT_PORT,
            pace: FlyPace::default(),
        }
    }

    pub(super) fn check(&self) -> Result<(), SetUpError> {
        if !is_app(&self.app) {
            let text = "FLY_APP is no name of an app; use lower-case letters, digits and dashes";
            return Err(SetUpError::Setting(text.to_owned()));
        }
        if !is_image(&self.image) {
            let text = "FLY_IMAGE is no image; name one that has the program mainstay";
            return Err(SetUpError::Setting(text.to_owned()));
        }
        Ok(())
    }
}

/// Whether a text can be the name of an app.
#[must_use]
pub fn is_app(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_APP).contains(&text.len()) && text.bytes().all(is_fit)
}

/// Whether a text can be the name of an image.
#[must_use]
pub fn is_image(text: &str) -> bool {
    (1..=MAX_IMAGE).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
