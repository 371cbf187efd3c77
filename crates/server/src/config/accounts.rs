//! What protects accounts, and how long what was done is remembered.

use std::time::Duration;

use mainstay_accounts::Pepper;

use super::problem::Reason;
use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting, hidden};

/// The key of every hash of a session or token.
pub const PEPPER: Setting = Setting {
    key: "accounts.token_hash_pepper",
    variables: &["TOKEN_HASH_PEPPER", "MAINSTAY_TOKEN_HASH_PEPPER"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Unset,
    mask: Some(hidden),
    help: "Secret that sessions and tokens are hashed with; without it one is made and kept in the data folder",
};

/// How long the audit log goes back.
pub const AUDIT_DAYS: Setting = Setting {
    key: "accounts.audit_days",
    variables: &["MAINSTAY_AUDIT_DAYS"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("400"),
    mask: None,
    help: "Days that the audit log goes back, 1 to 36500",
};

/// What protects accounts.
#[derive(Debug, Clone)]
pub struct AccountsConfig {
    /// The operator's own pepper.
    pub pepper: Option<Pepper>,
    /// How long the audit log goes back.
    pub audit_kept: Duration,
}

/// Reads the settings of accounts.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<AccountsConfig> {
    let pepper = reader.optional(&PEPPER, pepper);
    let days = reader.required(&AUDIT_DAYS, |text| number(text, 1..=36_500));
    let audit_kept = Duration::from_hours(24 * u64::from(days?));
    Some(AccountsConfig { pepper: pepper?, audit_kept })
}

fn pepper(text: &str) -> Result<Pepper, Reason> {
    Pepper::new(text.trim()).map_err(|error| Reason::from(format!("is too short: {error}")))
}

#[cfg(test)]
mod tests {
    use crate::config::load;
    use crate::config::testing::input;

    #[test]
    fn a_pepper_is_long_and_never_shown() {
        let long = "s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t";
        let loaded = load(input(vec![], &[("TOKEN_HASH_PEPPER", long)], "")).unwrap();
        assert!(loaded.config.accounts.pepper.is_some());
        let shown = format!("{:?}{}", loaded.config, crate::config::print::print(&loaded.layers));
        assert!(!shown.contains("s3cr3t"), "{shown}");
        let error = load(input(vec![], &[("TOKEN_HASH_PEPPER", "s3cr3t")], "")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("fewer than 32 bytes") && !text.contains("s3cr3t"), "{text}");
    }
}
