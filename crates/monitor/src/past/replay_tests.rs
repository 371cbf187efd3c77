use mainstay_base::Id;

use super::*;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn id(number: i64) -> Id {
    format!("019a8b3c-0000-7000-8000-{number:012}").parse().unwrap()
}

fn service(when: i64, what: What) -> Change {
    Change { at: at(when), service_no: 1, what }
}

fn dependency(when: i64, what: OfDependency) -> Change {
    service(when, What::Dependency(7, what))
}

/// A service that is polled from 10 on, fails from 40 to 50, and is removed at 90.
fn story() -> Vec<Change> {
    use DependencyStatus::{Down, Healthy};
    vec![
        service(5, What::Service { id: id(1), name: "Shop".into() }),
        service(10, What::Status(ServiceStatus::Healthy)),
        dependency(10, OfDependency::Added { id: id(7), name: "db".into(), status: Healthy }),
        dependency(10, OfDependency::Alias("Database".into())),
        dependency(20, OfDependency::Status(Down)),
        service(20, What::Status(ServiceStatus::Degraded)),
        dependency(25, OfDependency::Link(Some(id(2)))),
        service(30, What::Renamed("Store".into())),
        service(40, What::Status(ServiceStatus::Down)),
        service(40, What::Stale(true)),
        service(50, What::Status(ServiceStatus::Healthy)),
        service(50, What::Stale(false)),
        dependency(50, OfDependency::Missing(true)),
        dependency(60, OfDependency::Removed),
        dependency(70, OfDependency::Missing(false)),
        dependency(75, OfDependency::Link(None)),
        service(90, What::Removed),
    ]
}

/// Name and status of the service, and name, shown status and link of its dependency.
fn told(state: &PastState) -> (Option<String>, Option<String>) {
    let service = state.service(1).map(|one| format!("{} {}", one.name, one.status));
    let dependency = state.dependencies().next().map(|(_, one)| {
        let link = one.linked_service_id.map_or("none".to_owned(), |id| id.to_string());
        format!("{} {} {}", one.canonical_name, state.shown(one), link)
    });
    (service, dependency)
}

#[test]
fn every_change_is_seen_from_its_moment_on() {
    let linked = "019a8b3c-0000-7000-8000-000000000002";
    for (when, service, dependency) in [
        (4, None, None),
        (5, Some("Shop unknown"), None),
        (10, Some("Shop healthy"), Some("Database healthy none".to_owned())),
        (20, Some("Shop degraded"), Some("Database down none".to_owned())),
        (39, Some("Store degraded"), Some(format!("Database down {linked}"))),
        (40, Some("Store down"), Some(format!("Database unknown {linked}"))),
        (55, Some("Store healthy"), Some(format!("Database unknown {linked}"))),
        (60, Some("Store healthy"), None),
        (70, Some("Store healthy"), Some(format!("Database down {linked}"))),
        (89, Some("Store healthy"), Some("Database down none".to_owned())),
        (90, None, None),
    ] {
        let state = replay(PastState::default(), &story(), at(when));
        assert_eq!(told(&state), (service.map(str::to_owned), dependency), "at {when}");
    }
}

#[test]
fn what_was_applied_before_may_be_applied_again() {
    let story = story();
    let whole = replay(PastState::default(), &story, at(100));
    for taken in 0..=story.len() {
        let frame = replay(PastState::default(), &story[..taken], at(100));
        for begun in 0..=taken {
            for end in [45, 65, 89, 100] {
                // A keyframe is never after the moment that it is asked for.
                if story[..taken].iter().any(|change| change.at > at(end)) {
                    continue;
                }
                let again = replay(frame.clone(), &story[begun..], at(end));
                let expected = replay(PastState::default(), &story, at(end));
                assert_eq!(told(&again), told(&expected), "from {begun} after {taken} to {end}");
            }
        }
        assert_eq!(told(&replay(frame, &story, at(100))), told(&whole));
    }
}

#[test]
fn of_two_changes_the_later_number_holds_whatever_their_clocks_said() {
    // Two instances whose clocks differ by five minutes.
    let added = service(0, What::Service { id: id(1), name: "Shop".into() });
    let down = service(600_000, What::Status(ServiceStatus::Down));
    let healthy = service(360_000, What::Status(ServiceStatus::Healthy));
    let changes = [added, down, healthy];
    let status = |when| replay(PastState::default(), &changes, at(when)).service(1).unwrap().status;
    assert_eq!(status(400_000), ServiceStatus::Healthy);
    assert_eq!(status(700_000), ServiceStatus::Healthy);
}

#[test]
fn what_is_not_known_changes_nothing() {
    let strangers = [
        service(1, What::Status(ServiceStatus::Down)),
        service(1, What::Removed),
        dependency(1, OfDependency::Status(DependencyStatus::Down)),
        dependency(1, OfDependency::Removed),
    ];
    assert_eq!(replay(PastState::default(), &strangers, at(9)), PastState::default());
}
