//! What a service finds when it checks what it leans on.

use super::words;
use crate::company::{Need, On, Service, Thing};
use crate::world::{Grade, Manner, Says, World};

/// How long a call to another service takes on a good day.
const CALL_MS: f64 = 9.0;
/// How long a service waits for another one.
const PATIENCE_MS: f64 = 800.0;
/// How long a service waits for a thing: what it reports of it can't take longer than its own answer.
pub(super) const LONGEST_MS: f64 = 850.0;

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) purpose: &'static str,
    pub(super) impact: &'static str,
    pub(super) team: &'static str,
    pub(super) channel: &'static str,
    pub(super) grade: Grade,
    pub(super) latency_ms: f64,
    pub(super) error: Option<String>,
}

/// What a service finds.
pub(super) fn checks(service: &Service, world: &World) -> Vec<Check> {
    service.needs.iter().filter_map(|need| check(service, need, world)).collect()
}

fn check(service: &Service, need: &Need, world: &World) -> Option<Check> {
    let stretch = world.stretch(service.slug, need.reported);
    match need.on {
        On::Thing(slug) => of_thing(service, need, Thing::find(slug)?, world, stretch),
        On::Service(slug) => of_service(need, Service::find(slug)?, world, stretch),
    }
}

fn of_thing(
    service: &Service,
    need: &Need,
    thing: &Thing,
    world: &World,
    stretch: f64,
) -> Option<Check> {
    let trouble = world.trouble(thing.slug);
    let slower = trouble.map_or(1.0, |trouble| trouble.slower);
    let says = trouble.map_or(Says::Nothing, |trouble| trouble.says);
    Some(Check {
        name: need.reported,
        kind: thing.kind,
        purpose: thing.purpose,
        impact: thing.impact,
        team: thing.team,
        channel: thing.channel,
        grade: world.grade(need.on),
        latency_ms: (thing.usual_ms * stretch * slower).min(LONGEST_MS),
        error: words::of_trouble(says, service.wire),
    })
}

fn of_service(need: &Need, other: &Service, world: &World, stretch: f64) -> Option<Check> {
    let grade = world.grade(need.on);
    let (latency_ms, error) = match (world.manner(other.slug), grade) {
        (Manner::Hangs, Grade::Failing) => {
            (PATIENCE_MS, Some(format!("{} did not answer within {PATIENCE_MS} ms", other.slug)))
        }
        (_, Grade::Failing) => {
            let said = format!("{} answered 503 Service Unavailable", other.slug);
            (CALL_MS * stretch * 3.0, Some(said))
        }
        (_, Grade::Poor) => (CALL_MS * stretch * 15.0, Some(format!("{} is slow", other.slug))),
        (_, Grade::Fine) => (CALL_MS * stretch, None),
    };
    Some(Check {
        name: need.reported,
        kind: "service",
        purpose: other.purpose,
        impact: other.impact,
        team: other.team,
        channel: channel(other.team),
        grade,
        latency_ms,
        error,
    })
}

fn channel(team: &str) -> &'static str {
    match team {
        "Shop" => "#shop-oncall",
        "Pay" => "#pay-oncall",
        _ => "#platform-oncall",
    }
}
