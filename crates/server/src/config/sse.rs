//! How many live streams of events one caller may hold.

use super::reader::{Reader, number};
use super::setting::{Fallback, Kind, Setting};

/// Streams of one user's sessions.
pub const MAX_PER_USER: Setting = Setting {
    key: "sse.max_per_user",
    variables: &["MAINSTAY_SSE_MAX_PER_USER"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("1"),
    mask: None,
    help: "Live event streams that one user may hold, 1 to 100; the newest wins, and tabs of one browser share theirs",
};

/// Streams of one API token.
pub const MAX_PER_TOKEN: Setting = Setting {
    key: "sse.max_per_token",
    variables: &["MAINSTAY_SSE_MAX_PER_TOKEN"],
    flag: None,
    kind: Kind::Integer,
    fallback: Fallback::Fixed("5"),
    mask: None,
    help: "Live event streams that one API token may hold, 1 to 100; the newest wins",
};

/// How many live streams one caller may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseConfig {
    /// Of one user's sessions, over all instances.
    pub max_per_user: u32,
    /// Of one API token, over all instances.
    pub max_per_token: u32,
}

/// Reads the settings of live streams.
pub(super) fn read(reader: &mut Reader<'_>) -> Option<SseConfig> {
    let max_per_user = reader.required(&MAX_PER_USER, |text| number(text, 1..=100));
    let max_per_token = reader.required(&MAX_PER_TOKEN, |text| number(text, 1..=100));
    Some(SseConfig { max_per_user: max_per_user?, max_per_token: max_per_token? })
}
