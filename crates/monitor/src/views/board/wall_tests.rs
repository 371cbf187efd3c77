use super::*;
use DependencyStatus::{Degraded, Down, Healthy, Skipped, Unknown};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn service(number: u32, hidden_since: Option<i64>) -> WallService {
    let id = format!("019a8b3c-0000-7000-8000-{number:012}").parse().unwrap();
    let hidden_since = hidden_since.map(at);
    WallService { id, name: format!("s{number}"), hidden_since, failing: None }
}

fn failing(number: u32, status: DependencyStatus) -> WallService {
    let error_message = Some("refused".to_owned());
    let failing = Failing { status, since: at(7), failing_since: at(3), error_message };
    WallService { failing: Some(failing), ..service(number, None) }
}

fn said(name: &str, status: DependencyStatus, since: i64) -> WallSaid {
    WallSaid {
        key: name.to_lowercase(),
        name: name.to_owned(),
        status,
        since: at(since),
        failing_since: status.is_unhealthy().then(|| at(since - 1)),
        error_message: (status == Down).then(|| format!("{name} refused at {since}")),
    }
}

#[test]
fn groups_come_worst_first_and_then_by_how_many_they_trouble() {
    let mut all = Gathering::default();
    all.add(
        service(1, None),
        vec![
            said("fine", Healthy, 1),
            said("left out", Skipped, 1),
            said("gone", Unknown, 1),
            said("slow", Degraded, 1),
            said("broken", Down, 1),
            said("Worse", Down, 7),
        ],
    );
    all.add(service(2, None), vec![said("worse", Down, 5), said("fine", Healthy, 2)]);
    let wall = all.end();
    let names: Vec<_> = wall.items.iter().map(|one| one.canonical_name.as_str()).collect();
    assert_eq!(names, ["Worse", "broken", "slow", "gone", "fine", "left out"]);
    assert_eq!(wall.total, 6);
    let worse = &wall.items[0];
    assert_eq!((worse.status, worse.since, worse.counts.down), (Down, at(5), 2));
    assert_eq!((worse.failing_since, wall.items[3].failing_since), (Some(at(4)), None));
    assert_eq!(worse.error_message.as_deref(), Some("Worse refused at 7"));
    let reporters: Vec<_> = worse.reported_by.iter().map(|one| one.service_name.as_str()).collect();
    assert_eq!(reporters, ["s2", "s1"], "those who say so for longest come first");
}

#[test]
fn what_a_service_last_said_is_hidden_while_it_can_not_be_asked() {
    let mut all = Gathering::default();
    all.add(service(1, Some(50)), vec![said("db", Down, 10), said("gone", Unknown, 20)]);
    all.add(service(2, None), vec![said("db", Healthy, 30)]);
    let wall = all.end();
    let [gone, db] = wall.items.as_slice() else { panic!("{wall:?}") };
    assert_eq!((db.status, db.since, db.error_message.as_ref()), (Healthy, at(30), None));
    assert_eq!((db.counts.unknown, db.counts.healthy), (1, 1));
    assert_eq!((gone.status, gone.since), (Unknown, at(20)), "the first that hid it counts");
}

#[test]
fn few_are_named_and_all_are_counted() {
    let mut all = Gathering::default();
    for number in 0..100 {
        let status = if number == 63 { Down } else { Healthy };
        all.add(service(number, None), vec![said("db", status, 1_000 - i64::from(number))]);
    }
    let wall = all.end();
    let names: Vec<_> =
        wall.items[0].reported_by.iter().map(|one| one.service_name.as_str()).collect();
    assert_eq!(names, ["s63", "s99", "s98", "s97", "s96"]);
    assert_eq!((wall.items[0].counts.healthy, wall.items[0].counts.down), (99, 1));
}

#[test]
fn a_wall_has_room_for_so_many_groups() {
    let mut all = Gathering::default();
    let many = (0..=MAX_GROUPS).map(|n| said(&format!("{n:05}"), Healthy, 1)).collect();
    all.add(service(1, None), many);
    all.add(service(2, None), vec![said("zzz", Down, 1)]);
    let wall = all.end();
    assert_eq!((wall.total, wall.items.len()), (MAX_GROUPS + 2, MAX_GROUPS));
    assert_eq!(wall.items[0].canonical_name, "zzz");
}

#[test]
fn a_service_that_fails_is_told_of_unless_a_group_by_its_name_is_as_bad() {
    let mut all = Gathering::default();
    all.add(failing(1, Degraded), Vec::new());
    all.add(failing(2, Down), Vec::new());
    all.add(failing(3, Down), Vec::new());
    all.add(failing(4, Degraded), Vec::new());
    let told = [said("S3", Down, 1), said("s4", Down, 1), said("S2", Degraded, 1)];
    all.add(service(5, None), told.into());
    let wall = all.end();
    let names: Vec<_> = wall.failing.iter().map(|one| one.service_name.as_str()).collect();
    assert_eq!(names, ["s2", "s1"], "the worst first");
    let first = &wall.failing[0];
    assert_eq!((first.status, first.since, first.failing_since), (Down, at(7), at(3)));
    assert_eq!(first.error_message.as_deref(), Some("refused"));
    assert_eq!((wall.failing_total, wall.total), (2, 3));
}

#[test]
fn a_service_that_answers_is_no_worse_than_it_says_and_no_better_than_others_find_it() {
    let mut all = Gathering::default();
    all.add(failing(1, Degraded), vec![said("db", Down, 1)]);
    all.add(failing(2, Down), Vec::new());
    all.add(service(3, None), vec![said("S1", Down, 5), said("s2", Degraded, 6)]);
    all.add(service(4, None), vec![said("s3", Down, 8)]);
    let wall = all.end();
    let shown: Vec<_> = wall
        .items
        .iter()
        .map(|one| (one.canonical_name.as_str(), one.status, one.since, one.failing_since))
        .collect();
    assert_eq!(
        shown,
        [
            ("db", Down, at(1), Some(at(0))),
            ("s3", Down, at(8), Some(at(7))),
            ("s1", Degraded, at(7), Some(at(3))),
            ("s2", Degraded, at(6), Some(at(5))),
        ]
    );
    assert_eq!(wall.items[2].counts.down, 1, "what others say is still counted");
}

#[test]
fn a_thing_has_the_name_that_the_graph_gives_it() {
    let mut all = Gathering::default();
    all.add(service(1, None), vec![said("S2", Healthy, 1), said("Cache", Healthy, 1)]);
    all.add(service(2, None), vec![said("cache", Healthy, 1), said("db", Healthy, 1)]);
    all.add(service(3, None), vec![said("cache", Healthy, 1), said("DB", Healthy, 1)]);
    let names: Vec<_> = all.end().items.into_iter().map(|one| one.canonical_name).collect();
    assert_eq!(names, ["cache", "DB", "s2"]);
}

#[test]
fn a_service_that_answers_and_leans_on_what_fails_has_no_place_of_its_own() {
    let mut all = Gathering::default();
    all.add(failing(1, Degraded), vec![said("fine", Healthy, 1), said("db", Down, 1)]);
    all.add(failing(2, Down), vec![said("db", Down, 1)]);
    let names: Vec<_> = all.end().failing.into_iter().map(|one| one.service_name).collect();
    assert_eq!(names, ["s2"]);
}

#[test]
fn a_wall_has_room_for_so_many_services() {
    let mut all = Gathering::default();
    for number in 0..=u32::try_from(MAX_FAILING).unwrap() {
        all.add(failing(number, Degraded), Vec::new());
    }
    all.add(failing(9_999, Down), Vec::new());
    let wall = all.end();
    assert_eq!((wall.failing_total, wall.failing.len()), (MAX_FAILING + 2, MAX_FAILING));
    assert_eq!(wall.failing[0].service_name, "s9999");
}
