//! The report for a program.

use mainstay_monitor::{Format, Reported, Warning};
use serde_json::{Value, json};

use super::{Failure, Outcome};

const MILLIS_PER_SECOND: f64 = 1_000.0;

/// One line of JSON.
pub(super) fn text(format: &Format, outcome: &Outcome) -> String {
    let answer = outcome.answer.as_ref();
    let (report, error) = match &outcome.read {
        Ok(report) => (Some(report), Value::Null),
        Err(Failure { kind, message }) => (None, json!({"kind": kind, "message": message})),
    };
    let dependencies = report.map(|report| report.dependencies.iter().map(dependency));
    let warnings = report.map(|report| report.warnings.iter().map(warning));
    let value = json!({
        "success": report.is_some(),
        "healthy": outcome.is_healthy(),
        "format": format.name(),
        "http_status": answer.map(|answer| answer.status),
        "latency_ms": answer.map(|answer| answer.latency.as_secs_f64() * MILLIS_PER_SECOND),
        "dependencies": dependencies.into_iter().flatten().collect::<Vec<_>>(),
        "warnings": warnings.into_iter().flatten().collect::<Vec<_>>(),
        "error": error,
    });
    format!("{value}\n")
}

fn dependency(one: &Reported) -> Value {
    json!({
        "name": one.name,
        "type": one.kind,
        "description": one.description,
        "impact": one.impact,
        "contact": inner(one.contact.as_deref()),
        "check_details": inner(one.check_details.as_deref()),
        "healthy": one.healthy,
        "state": one.state.number(),
        "status": one.status().name(),
        "code": one.code,
        "latency_ms": one.latency.as_secs_f64() * MILLIS_PER_SECOND,
        "skipped": one.skipped,
        "error": inner(one.error.as_deref()),
        "error_message": one.error_message,
        "checked_at": one.checked_at,
    })
}

/// JSON inside of JSON, as such.
fn inner(json: Option<&str>) -> Value {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or(Value::Null)
}

fn warning(warning: &Warning) -> Value {
    json!({
        "reason": warning.reason,
        "first_index": warning.first_index,
        "count": warning.count,
    })
}
