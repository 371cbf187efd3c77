//! Checks, written down as each framework does.

use serde_json::{Map, Value, json};

use super::check::Check;
use crate::world::Grade;

/// An array of dependencies.
pub(super) fn proactive(checks: &[Check]) -> Value {
    Value::Array(checks.iter().map(proactive_item).collect())
}

/// Spring Boot Actuator, which was told to answer 200 whatever it finds, and to tell details.
pub(super) fn spring(checks: &[Check]) -> Value {
    let components = members(checks, |check| {
        let details = json!({
            "type": check.kind,
            "description": check.purpose,
            "impact": check.impact,
            "contact": contact(check),
            "responseTimeMs": rounded(check.latency_ms),
        });
        json!({
            "status": word(check.grade, ["UP", "DEGRADED", "DOWN"]),
            "details": with(details, "error", check.error.as_deref()),
        })
    });
    json!({ "status": word(worst(checks), ["UP", "DEGRADED", "DOWN"]), "components": components })
}

/// The health checks of ASP.NET, which were told to answer 200 whatever they find.
pub(super) fn asp_net(checks: &[Check]) -> Value {
    let words = ["Healthy", "Degraded", "Unhealthy"];
    let entries = members(checks, |check| {
        let entry = json!({
            "data": { "type": check.kind, "impact": check.impact, "contact": contact(check) },
            "description": check.purpose,
            "duration": time_span(check.latency_ms),
            "status": word(check.grade, words),
            "tags": [check.kind],
        });
        with(entry, "exception", check.error.as_deref())
    });
    let longest = checks.iter().map(|one| one.latency_ms).fold(0.0, f64::max);
    json!({
        "status": word(worst(checks), words),
        "totalDuration": time_span(longest),
        "entries": entries,
    })
}

fn proactive_item(check: &Check) -> Value {
    let (state, code) = match check.grade {
        Grade::Fine => (0, 200),
        Grade::Poor => (1, 200),
        Grade::Failing => (2, 503),
    };
    let item = json!({
        "name": check.name,
        "type": check.kind,
        "description": check.purpose,
        "impact": check.impact,
        "healthy": check.grade != Grade::Failing,
        "health": { "state": state, "code": code, "latency": rounded(check.latency_ms) },
        "contact": contact(check),
    });
    with(item, "errorMessage", check.error.as_deref())
}

fn contact(check: &Check) -> Value {
    json!({ "team": check.team, "channel": check.channel })
}

fn members(checks: &[Check], write: impl Fn(&Check) -> Value) -> Value {
    let members = checks.iter().map(|check| (check.name.to_owned(), write(check)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn with(mut object: Value, key: &str, text: Option<&str>) -> Value {
    if let (Some(members), Some(text)) = (object.as_object_mut(), text) {
        members.insert(key.to_owned(), text.into());
    }
    object
}

fn worst(checks: &[Check]) -> Grade {
    checks.iter().map(|check| check.grade).max().unwrap_or(Grade::Fine)
}

const fn word(grade: Grade, [fine, poor, failing]: [&'static str; 3]) -> &'static str {
    match grade {
        Grade::Fine => fine,
        Grade::Poor => poor,
        Grade::Failing => failing,
    }
}

/// To the hundredth: more digits are noise.
fn rounded(millis: f64) -> f64 {
    (millis * 100.0).round() / 100.0
}

/// As .NET writes it. None of the checks takes a minute.
fn time_span(millis: f64) -> String {
    format!("00:00:{:010.7}", (millis / 1_000.0).clamp(0.0, 59.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_span_is_written_as_dot_net_does() {
        for (millis, expected) in [
            (12.3456, "00:00:00.0123456"),
            (2_001.043, "00:00:02.0010430"),
            (0.0, "00:00:00.0000000"),
        ] {
            assert_eq!(time_span(millis), expected);
        }
    }
}
