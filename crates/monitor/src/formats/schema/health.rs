//! The words for health that the frameworks use.

use crate::formats::scalar::Scalar;
use crate::report::HealthState;

const HEALTHY: &[&str] = &["true", "ok", "healthy", "up", "pass", "passing"];
const UNHEALTHY: &[&str] = &["false", "error", "unhealthy", "down", "critical", "fail", "failing"];
const DEGRADED: &[&str] = &["degraded", "warn", "warning"];

/// What a boolean or a word says: whether it is healthy, and how bad it is.
pub(super) fn understand(value: &Scalar<'_>) -> Option<(bool, HealthState)> {
    match value {
        Scalar::Bool(true) => Some((true, HealthState::Healthy)),
        Scalar::Bool(false) => Some((false, HealthState::Down)),
        Scalar::Text(word) => understand_word(word),
        _ => None,
    }
}

fn understand_word(word: &str) -> Option<(bool, HealthState)> {
    let is_in = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    if is_in(HEALTHY) {
        Some((true, HealthState::Healthy))
    } else if is_in(UNHEALTHY) {
        Some((false, HealthState::Down))
    } else if is_in(DEGRADED) {
        Some((true, HealthState::Degraded))
    } else {
        None
    }
}
