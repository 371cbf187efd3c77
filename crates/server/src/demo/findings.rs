//! What an agent on a machine of the demo would have found of a service.

use mainstay_base::Timestamp;
use mainstay_fleet::Definition;
use mainstay_standins::company::On;
use mainstay_standins::{Answer, Grade, SERVICES, Service, World, answer};
use serde_json::{Value, json};

use super::watched::TIMEOUT_MS;

/// The services that a net checks.
pub(super) fn services(definition: &Definition) -> impl Iterator<Item = &'static Service> {
    let listed = definition.as_value().get("services").and_then(Value::as_array);
    let names: Vec<&str> = listed
        .into_iter()
        .flatten()
        .filter_map(|service| service.get("name").and_then(Value::as_str))
        .collect();
    SERVICES
        .iter()
        .filter(move |service| names.contains(&service.name))
        .collect::<Vec<_>>()
        .into_iter()
}

/// How a service is in this world, seen from a region.
pub(super) fn finding(
    service: &'static Service,
    world: &World,
    region: Option<&str>,
    now: Timestamp,
) -> Value {
    let (status, latency, error) = match answer(service, world) {
        Answer::Never => {
            let text = format!("the endpoint said nothing for {} s", TIMEOUT_MS / 1_000);
            ("down", None, Some(text))
        }
        Answer::Given { code, after, .. } => {
            let latency = after.as_secs_f64().mul_add(1_000.0, away_ms(region));
            let (status, error) = judged(service, world, code);
            (status, Some(latency), error)
        }
    };
    json!({
        "kind": "service",
        "name": service.name,
        "at": now,
        "status": status,
        "latency_ms": latency,
        "error": error,
    })
}

fn judged(service: &Service, world: &World, code: u16) -> (&'static str, Option<String>) {
    if code >= 400 {
        return ("down", Some(format!("the endpoint answered with status {code}")));
    }
    match world.grade(On::Service(service.slug)) {
        Grade::Fine => ("healthy", None),
        _ => ("degraded", Some("something it leans on is not well".to_owned())),
    }
}

/// How long the way there and back takes.
fn away_ms(region: Option<&str>) -> f64 {
    match region {
        Some("fra") => 11.0,
        Some("iad") => 92.0,
        Some("nrt") => 226.0,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_standins::Story;

    fn found(slug: &str, seconds: i64, region: Option<&str>) -> Value {
        let world = World::at(Story { seed: 7 }, seconds * 1_000);
        let now = Timestamp::from_millis(1_794_776_400_000);
        finding(Service::find(slug).unwrap(), &world, region, now)
    }

    #[test]
    fn it_is_as_the_story_has_it() {
        let well = found("catalog", 0, Some("fra"));
        assert_eq!((&well["status"], &well["error"]), (&json!("healthy"), &Value::Null));
        assert_eq!(found("catalog", 60, None)["status"], "degraded");
        let far = found("catalog", 0, Some("nrt"));
        assert!(far["latency_ms"].as_f64() > well["latency_ms"].as_f64().map(|ms| ms + 200.0));
    }

    #[test]
    fn one_that_hangs_is_down_and_took_no_time_that_anybody_knows() {
        let all = SERVICES.iter().map(|service| found(service.slug, 240, None));
        let hangs: Vec<Value> = all.filter(|one| one["status"] == "down").collect();
        assert!(!hangs.is_empty());
        assert!(hangs.iter().all(|one| one["latency_ms"].is_null() && one["error"].is_string()));
    }
}
