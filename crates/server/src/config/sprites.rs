//! Machines of Sprites: a token, and how the binary gets on a sprite.

use mainstay_fleet::providers::SpriteSettings;
use mainstay_fleet::providers::sprite::settings::BASE_URL as PUBLIC;

use super::address;
use super::outbound::OutboundConfig;
use super::problem::{Problem, Reason};
use super::provider::{base_url, shows_token, token};
use super::reader::Reader;
use super::setting::{Fallback, Kind, Setting, hidden};

/// An address of its kind, for who gave none.
const EXAMPLE: &str = "https://api.example.com";
/// Where the API is.
pub const BASE_URL: Setting = Setting {
    key: "sprites.base_url",
    variables: &["SPRITES_API_URL", "MAINSTAY_SPRITES_BASE_URL"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Fixed(PUBLIC),
    mask: Some(address::masked),
    help: "Address of the API of Sprites",
};

/// How the binary gets there.
pub const INSTALL: Setting = Setting {
    key: "sprites.install",
    variables: &["MAINSTAY_SPRITES_INSTALL"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "Shell command that brings the mainstay binary on the PATH of a sprite that has none",
};

/// Who asks.
pub const TOKEN: Setting = Setting {
    key: "sprites.token",
    variables: &["SPRITES_TOKEN", "MAINSTAY_SPRITES_TOKEN"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "Token of Sprites that may make and end sprites",
};

/// Reads how machines of Sprites are made, where they are.
pub(super) fn read(
    reader: &mut Reader<'_>,
    outbound: Option<&OutboundConfig>,
) -> Option<Option<SpriteSettings>> {
    let token = reader.optional(&TOKEN, token);
    let install = reader.optional(&INSTALL, command);
    let base_url = reader.required(&BASE_URL, |text| base_url(text, EXAMPLE));
    let (token, install, base_url, outbound) = (token?, install?, base_url?, outbound?);
    let Some(token) = token else {
        if install.is_some() {
            let (given, missing) = (INSTALL.key, TOKEN.key);
            reader.problem(Problem::Incomplete { given, missing });
            return None;
        }
        return Some(None);
    };
    if shows_token(&base_url) {
        reader.warn(
            "sprites.base_url is plain http on another host: the token of Sprites goes over the \
             network in the clear; use https://"
                .to_owned(),
        );
    }
    let mut settings = SpriteSettings::new(base_url, token);
    settings.install = install;
    settings.api.ca_file.clone_from(&outbound.ca_file);
    Some(Some(settings))
}

/// No reason repeats the text: it may hold what a download is paid with.
fn command(text: &str) -> Result<String, Reason> {
    let command = text.trim();
    let fits = !command.is_empty() && !command.contains('\0');
    fits.then(|| command.to_owned()).ok_or_else(|| "is no shell command; give one".into())
}

#[cfg(test)]
mod tests {
    use crate::config::testing::input;
    use crate::config::{Loaded, load, print::print};

    const TOKEN: (&str, &str) = ("SPRITES_TOKEN", "org/1234/hunter2");
    const INSTALL: (&str, &str) = ("MAINSTAY_SPRITES_INSTALL", "curl https://x/?key=hunter2 | sh");

    fn loaded(variables: &[(&str, &str)]) -> Result<Loaded, String> {
        load(input(vec![], variables, "")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_token_is_enough_and_what_is_secret_is_hidden() {
        assert_eq!(loaded(&[]).unwrap().config.fleet.sprites, None);
        let loaded = loaded(&[TOKEN, INSTALL]).unwrap();
        let sprites = loaded.config.fleet.sprites.as_ref().unwrap();
        assert_eq!(sprites.api.base_url.as_str(), "https://api.sprites.dev/");
        assert_eq!(sprites.install.as_deref(), Some(INSTALL.1));
        let shown = format!("{:?} {}", loaded.config.shown, print(&loaded.layers));
        assert!(!shown.contains("hunter2") && shown.contains("sprites.token"), "{shown}");
    }

    #[test]
    fn what_is_wrong_is_told_without_what_is_secret() {
        for (given, told) in [
            (vec![("SPRITES_TOKEN", "hunter2\u{1}")], "the value is no token"),
            (vec![("SPRITES_API_URL", "sprites")], "is no web address"),
            (vec![INSTALL], "sprites.install is set but sprites.token is not"),
        ] {
            let text = loaded(&given).unwrap_err();
            assert!(text.contains(told) && !text.contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn a_token_in_the_clear_is_warned_about() {
        let plain = ("SPRITES_API_URL", "http://sprites.example");
        let warnings = loaded(&[TOKEN, plain]).unwrap().warnings;
        assert!(warnings[0].starts_with("sprites.base_url is plain http"), "{warnings:?}");
        let inside = ("SPRITES_API_URL", "http://127.0.0.1:8080");
        assert_eq!(loaded(&[TOKEN, inside]).unwrap().warnings, Vec::<String>::new());
    }
}
