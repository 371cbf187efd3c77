//! What this Mainstay is for.

use super::problem::Reason;
use super::reader::Reader;
use super::setting::{Fallback, Kind, Setting};

/// What this Mainstay is for.
pub const STAGE: Setting = Setting {
    key: "environment",
    variables: &["MAINSTAY_ENV"],
    flag: None,
    kind: Kind::Text,
    fallback: Fallback::Fixed("development"),
    mask: None,
    help: "What this Mainstay is for: production refuses what is only for tests and demos; test makes reports without a language model where none is named; else development",
};

/// What this Mainstay is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// People lean on it.
    Production,
    /// Nobody does.
    Development,
    /// Programs try it out: nobody reads its reports.
    Test,
}

/// Reads it.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<Stage> {
    reader.required(&STAGE, stage)
}

fn stage(text: &str) -> Result<Stage, Reason> {
    match text.trim() {
        "production" => Ok(Stage::Production),
        "development" => Ok(Stage::Development),
        "test" => Ok(Stage::Test),
        _ => Err("is neither production nor development nor test; give one of them".into()),
    }
}
