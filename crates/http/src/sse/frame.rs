//! The texts of a stream, as the standard of server-sent events wants them.

use mainstay_events::{Position, ResetReason};
use serde_json::json;

/// The first words: they bring the answer's head through every buffer on the way.
pub(super) fn hello(retry: u64) -> String {
    format!(": connected\nretry: {retry}\n\n")
}

/// Where a follower without a position begins.
pub(super) fn snapshot(position: &Position) -> String {
    let data = json!({ "position": position.to_string() });
    format!("event: snapshot\nid: {position}\ndata: {data}\n\n")
}

/// What the follower knows is too old: it must fetch the state anew.
pub(super) fn reset(reason: ResetReason, position: &Position) -> String {
    let data = json!({ "reason": reason.to_string(), "position": position.to_string() });
    format!("event: reset\nid: {position}\ndata: {data}\n\n")
}

/// Somebody newer took this place.
pub(super) const SUPERSEDED: &str = "event: superseded\ndata: {}\n\n";

/// Whoever follows is no longer signed in.
pub(super) const AUTH_EXPIRED: &str = "event: auth_expired\ndata: {}\n\n";

/// A sign of life, and how far the follower has come, so that a quiet or filtered one never falls
/// below what is kept.
pub(super) fn keepalive(position: &Position) -> String {
    format!(": keepalive\n\nid: {position}\n\n")
}

/// When to connect again.
pub(super) fn retry(millis: u64) -> String {
    format!("retry: {millis}\n\n")
}
