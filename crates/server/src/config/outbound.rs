//! What Mainstay may call.

use std::path::PathBuf;

use mainstay_outbound::guard::AllowList;

use super::reader::{Reader, path};
use super::setting::{Fallback, Kind, Setting, parts};

/// Inner addresses that may be called.
pub const ALLOW: Setting = Setting {
    key: "outbound.allow",
    variables: &["MAINSTAY_OUTBOUND_ALLOW"],
    flag: None,
    kind: Kind::List,
    fallback: Fallback::Unset,
    mask: None,
    help: "Private addresses that may be polled: networks (10.0.0.0/8), hosts (db.internal) and suffixes (*.internal)",
};

/// A company's own authority.
pub const CA_FILE: Setting = Setting {
    key: "outbound.ca_file",
    variables: &["MAINSTAY_OUTBOUND_CA_FILE"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: None,
    help: "PEM file with certificate authorities to trust beside the system's: for services, the language model and the storage",
};

/// What Mainstay may call.
#[derive(Debug, Clone, Default)]
pub struct OutboundConfig {
    /// What may be called beside public addresses.
    pub allow: AllowList,
    /// Authorities beside the system's.
    pub ca_file: Option<PathBuf>,
}

/// Reads what may be called.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<OutboundConfig> {
    let allow = reader.optional(&ALLOW, |text| {
        AllowList::parse(parts(text)).map_err(|error| format!("can't be read: {error}").into())
    });
    let ca_file = reader.optional(&CA_FILE, path);
    Some(OutboundConfig { allow: allow?.unwrap_or_default(), ca_file: ca_file? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;
    use crate::config::testing::input;

    fn outbound(variables: &[(&str, &str)]) -> Result<OutboundConfig, String> {
        let loaded = load(input(vec![], variables, ""));
        loaded.map(|loaded| loaded.config.outbound).map_err(|error| error.to_string())
    }

    #[test]
    fn networks_hosts_and_suffixes_can_be_listed() {
        let given = outbound(&[("MAINSTAY_OUTBOUND_ALLOW", "10.0.0.0/8, db.internal,*.corp")]);
        let allow = given.unwrap().allow;
        assert!(allow.holds("10.1.2.3".parse().unwrap()));
        assert!(allow.names("db.internal") && allow.names("a.b.corp"));
        assert!(!allow.names("other.internal"));
    }

    #[test]
    fn what_is_none_of_them_is_refused_by_name() {
        for value in ["10.0.0.0/33", "http://a.test/", "*.", "a b"] {
            let text = outbound(&[("MAINSTAY_OUTBOUND_ALLOW", value)]).unwrap_err();
            assert!(text.contains("MAINSTAY_OUTBOUND_ALLOW"), "{value}: {text}");
        }
    }
}
