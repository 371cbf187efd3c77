//! A latency as the frameworks write it: milliseconds as number or text, or a .NET time span.

use std::time::Duration;

use crate::formats::scalar::{Scalar, latency_of_millis, latency_of_seconds};

const SECONDS_PER_DAY: f64 = 86_400.0;
const SECONDS_PER_HOUR: f64 = 3_600.0;
const SECONDS_PER_MINUTE: f64 = 60.0;

/// The latency that a value tells of.
pub(super) fn understand(value: &Scalar<'_>) -> Option<Duration> {
    match value {
        Scalar::Text(text) => of_millis_text(text).or_else(|| of_time_span(text)),
        other => other.latency(),
    }
}

fn of_millis_text(text: &str) -> Option<Duration> {
    latency_of_millis(text.trim().parse().ok()?)
}

/// `[days.]hours:minutes:seconds[.fraction]`.
fn of_time_span(text: &str) -> Option<Duration> {
    let parts: Vec<&str> = text.split(':').collect();
    let &[hours, minutes, seconds] = parts.as_slice() else { return None };
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    let total = number(days)? * SECONDS_PER_DAY
        + number(hours)? * SECONDS_PER_HOUR
        + number(minutes)? * SECONDS_PER_MINUTE
        + number(seconds)?;
    latency_of_seconds(total)
}

/// Digits and a point: no sign, no exponent.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_time_are_understood() {
        for (text, micros) in [
            ("12", Some(12_000)),
            (" 12.5 ", Some(12_500)),
            ("00:00:00.0123456", Some(12_346)),
            ("00:01:02", Some(62_000_000)),
            ("01:00:00", Some(3_600_000_000)),
            ("1.00:00:00", Some(86_400_000_000)),
            ("1.00:00:01", None),
            ("-00:00:01", None),
            ("00:00", None),
            ("12ms", None),
            ("NaN", None),
            ("inf", None),
            ("1e300", None),
            ("-1", None),
            ("", None),
        ] {
            let read = understand(&Scalar::Text(text.into()));
            assert_eq!(read, micros.map(Duration::from_micros), "{text:?}");
        }
    }
}
