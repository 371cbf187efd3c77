//! Machines of Fly: the token, the app and the image, all of them or none.

use std::ops::RangeInclusive;

use mainstay_fleet::providers::FlySettings;
use mainstay_fleet::providers::fly::settings::{AGENT_PORT, BASE_URL as PUBLIC, is_app, is_image};

use super::address;
use super::outbound::OutboundConfig;
use super::problem::Reason;
use super::provider::{base_url, shows_token, token};
use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting, hidden};

/// An address of its kind, for who gave none.
const EXAMPLE: &str = "https://api.example.com";
/// The port of the agent.
pub const PORT: Setting = Setting {
    key: "fly.agent_port",
    variables: &["MAINSTAY_FLY_AGENT_PORT"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("7374"),
    mask: None,
    help: "Port of the agent on a Fly machine, which only its private network reaches",
};

/// Who asks.
pub const TOKEN: Setting = Setting {
    key: "fly.api_token",
    variables: &["FLY_API_TOKEN", "MAINSTAY_FLY_API_TOKEN"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "Token of Fly that may make and end machines of the app; needs the app and the image too",
};

/// Whose machines they are.
pub const APP: Setting = Setting {
    key: "fly.app",
    variables: &["FLY_APP", "MAINSTAY_FLY_APP"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "App of Fly that the machines of workers belong to; it must be there",
};

/// Where the API is.
pub const BASE_URL: Setting = Setting {
    key: "fly.base_url",
    variables: &["FLY_API_BASE_URL", "MAINSTAY_FLY_BASE_URL"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Fixed(PUBLIC),
    mask: Some(address::masked),
    help: "Address of Fly's Machines API; http://_api.internal:4280 from inside of Fly's private network",
};

/// What they are made of.
pub const IMAGE: Setting = Setting {
    key: "fly.image",
    variables: &["FLY_IMAGE", "MAINSTAY_FLY_IMAGE"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "Image with the mainstay binary that machines of Fly are made of",
};

/// What belongs together.
const PARTS: [&Setting; 3] = [&TOKEN, &APP, &IMAGE];

const PORTS: RangeInclusive<u32> = 1..=65_535;

/// Reads how machines of Fly are made, where they are.
pub(super) fn read(
    reader: &mut Reader<'_>,
    outbound: Option<&OutboundConfig>,
) -> Option<Option<FlySettings>> {
    let token = reader.optional(&TOKEN, token);
    let app = reader.optional(&APP, app);
    let image = reader.optional(&IMAGE, image);
    let base_url = reader.required(&BASE_URL, |text| base_url(text, EXAMPLE));
    let port = reader.required(&PORT, |text| number(text, PORTS));
    let is_wanted = reader.all_or_none(&PARTS)?;
    let (token, app, image) = (token?, app?, image?);
    let (base_url, port, outbound) = (base_url?, port?, outbound?);
    let (Some(token), Some(app), Some(image), true) = (token, app, image, is_wanted) else {
        return Some(None);
    };
    if shows_token(&base_url) {
        reader.warn(
            "fly.base_url is plain http on another host: the token of Fly goes over the network \
             in the clear; use https://"
                .to_owned(),
        );
    }
    let mut settings = FlySettings::new(base_url, token, &app, &image);
    settings.agent_port = u16::try_from(port).unwrap_or(AGENT_PORT);
    settings.api.ca_file.clone_from(&outbound.ca_file);
    Some(Some(settings))
}

fn app(text: &str) -> Result<String, Reason> {
    let name = text.trim();
    is_app(name).then(|| name.to_owned()).ok_or_else(|| {
        "is no name of an app; use up to 63 lower-case letters, digits and dashes".into()
    })
}

fn image(text: &str) -> Result<String, Reason> {
    let name = text.trim();
    is_image(name).then(|| name.to_owned()).ok_or_else(|| {
        "is no image; name one with the mainstay binary, such as registry.fly.io/my-app:1".into()
    })
}

#[cfg(test)]
mod tests {
    use crate::config::testing::input;
    use crate::config::{Loaded, load, print::print};

    const THREE: [(&str, &str); 3] = [
        ("FLY_API_TOKEN", "FlyV1 fm2_hunter2,fm2_more"),
        ("FLY_APP", "my-fleet"),
        ("FLY_IMAGE", "registry.fly.io/my-fleet:1"),
    ];

    fn loaded(variables: &[(&str, &str)], file: &str) -> Result<Loaded, String> {
        load(input(vec![], variables, file)).map_err(|error| error.to_string())
    }

    #[test]
    fn with_nothing_given_there_are_no_machines_of_fly() {
        assert_eq!(loaded(&[], "").unwrap().config.fleet.fly, None);
        let other = loaded(&[("FLY_API_BASE_URL", "http://127.0.0.1:1")], "").unwrap();
        assert_eq!(other.config.fleet.fly, None);
    }

    #[test]
    fn the_three_set_it_up_by_the_environment_or_the_file_and_the_token_is_hidden() {
        let file = "[fly]\napi_token = 'hunter2'\napp = 'my-fleet'\nagent_port = 9000\n\
                    image = 'registry.fly.io/my-fleet:1'\nbase_url = 'http://_api.internal:4280'";
        let by_variables = loaded(&THREE, "").unwrap();
        let by_file = loaded(&[("MAINSTAY_OUTBOUND_CA_FILE", "ca.pem")], file).unwrap();
        for (loaded, address, port) in [
            (&by_variables, "https://api.machines.dev/", 7374),
            (&by_file, "http://_api.internal:4280/", 9000),
        ] {
            let fly = loaded.config.fleet.fly.as_ref().unwrap();
            assert_eq!((fly.app.as_str(), fly.agent_port), ("my-fleet", port));
            assert_eq!(fly.api.base_url.as_str(), address);
            assert!(fly.api.token.expose().contains("hunter2"));
            assert_eq!(loaded.warnings, Vec::<String>::new());
            let shown = format!("{:?} {}", loaded.config, print(&loaded.layers));
            assert!(!shown.contains("hunter2") && shown.contains("fly.api_token"), "{shown}");
        }
        assert_eq!(by_file.config.fleet.fly.unwrap().api.ca_file, Some("ca.pem".into()));
    }

    #[test]
    fn each_that_is_missing_is_named() {
        for left_out in 0..THREE.len() {
            let mut some = THREE.to_vec();
            let (name, _) = some.remove(left_out);
            let told = loaded(&some, "").unwrap_err();
            let wanted = format!("but {name} is not; set all of them or none");
            assert!(told.contains(&wanted) && !told.contains("hunter2"), "{told}");
        }
        let told = loaded(&THREE[..1], "").unwrap_err();
        assert!(told.contains("FLY_API_TOKEN is set but FLY_APP, FLY_IMAGE are not"), "{told}");
    }

    #[test]
    fn what_is_wrong_is_told_without_the_token() {
        for (at, name, value, told) in [
            (0, "FLY_API_TOKEN", "hunter2\u{7}", "the value is no token"),
            (1, "FLY_APP", "My Fleet", "\"My Fleet\" is no name of an app"),
            (2, "FLY_IMAGE", "an image", "\"an image\" is no image"),
        ] {
            let mut given = THREE.to_vec();
            given[at] = (name, value);
            let text = loaded(&given, "").unwrap_err();
            assert!(text.contains(told) && !text.contains("hunter2"), "{text}");
        }
        for (name, value, told) in [
            ("FLY_API_BASE_URL", "api.machines.dev", "is no web address"),
            ("FLY_API_BASE_URL", "https://u:hunter2@fly.example", "the value is no web address"),
            ("MAINSTAY_FLY_AGENT_PORT", "0", "is not a whole number from 1 to 65535"),
        ] {
            let text = loaded(&[(name, value)], "").unwrap_err();
            assert!(text.contains(told) && !text.contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn a_token_in_the_clear_is_warned_about() {
        let mut given = THREE.to_vec();
        given.push(("FLY_API_BASE_URL", "http://fly.example"));
        let warnings = loaded(&given, "").unwrap().warnings;
        assert!(warnings[0].starts_with("fly.base_url is plain http"), "{warnings:?}");
    }
}
