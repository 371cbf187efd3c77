//! One rule of the table each.

use super::*;

type Table = Flights<&'static str, u32>;

fn lead(flights: &mut Table, key: &'static str, member: u32) -> Generation {
    match flights.join(key, member) {
        Ok(Role::Leader(generation)) => generation,
        other => panic!("{member} does not lead: {other:?}"),
    }
}

fn follow(flights: &mut Table, key: &'static str, member: u32) -> Generation {
    match flights.join(key, member) {
        Ok(Role::Follower(generation)) => generation,
        other => panic!("{member} does not follow: {other:?}"),
    }
}

/// Member 1 leads, the others up to `last` follow.
fn flight_of(last: u32) -> (Table, Generation) {
    let mut flights = Flights::default();
    let generation = lead(&mut flights, "a", 1);
    for member in 2..=last {
        assert_eq!(follow(&mut flights, "a", member), generation);
    }
    (flights, generation)
}

#[test]
fn the_first_leads_the_others_follow_and_all_land_once() {
    let mut flights = Flights::default();
    let generation = lead(&mut flights, "a", 1);
    let _ = follow(&mut flights, "a", 2);
    let _ = follow(&mut flights, "a", 3);
    assert_eq!(flights.len(), 1);
    assert_eq!(flights.land(&"a", generation), Ok(vec![1, 2, 3]));
    assert_eq!(flights.land(&"a", generation), Err(StaleFlight));
    assert!(flights.is_empty());
}

#[test]
fn keys_fly_apart() {
    let mut flights = Flights::default();
    let (a, b) = (lead(&mut flights, "a", 1), lead(&mut flights, "b", 2));
    assert!(!flights.is_empty());
    assert_eq!(flights.land(&"b", a), Err(StaleFlight));
    assert_eq!(flights.land(&"b", b), Ok(vec![2]));
    assert_eq!(flights.land(&"a", a), Ok(vec![1]));
}

#[test]
fn nothing_is_kept_after_landing() {
    let mut flights = Flights::default();
    let old = lead(&mut flights, "a", 1);
    assert_eq!(flights.land(&"a", old), Ok(vec![1]));
    let new = lead(&mut flights, "a", 2);
    assert_ne!(old, new);
}

#[test]
fn a_late_answer_lands_no_newer_flight() {
    let mut flights = Flights::default();
    let old = lead(&mut flights, "a", 1);
    assert_eq!(flights.land(&"a", old), Ok(vec![1]));
    let new = lead(&mut flights, "a", 2);
    assert_eq!(flights.land(&"a", old), Err(StaleFlight));
    assert_eq!(flights.abandon(&"a", old), Err(StaleFlight));
    assert_eq!(flights.land(&"a", new), Ok(vec![2]));
}

#[test]
fn a_leader_that_leaves_hands_over_to_who_joined_next() {
    let mut flights = Flights::default();
    let old = lead(&mut flights, "a", 1);
    let _ = follow(&mut flights, "a", 2);
    let _ = follow(&mut flights, "a", 3);
    let handover = flights.abandon(&"a", old).unwrap();
    let (left, (&leader, new)) = (handover.left, handover.next.unwrap());
    assert_eq!((left, leader), (1, 2));
    assert_eq!(flights.land(&"a", old), Err(StaleFlight), "its answer comes too late");
    let _ = follow(&mut flights, "a", 4);
    assert_eq!(flights.land(&"a", new), Ok(vec![2, 3, 4]));
}

#[test]
fn a_leader_that_leaves_alone_leaves_nothing() {
    let mut flights = Flights::default();
    let generation = lead(&mut flights, "a", 1);
    let alone = Handover { left: 1, next: None };
    assert_eq!(flights.abandon(&"a", generation), Ok(alone));
    assert!(flights.is_empty());
    assert_ne!(lead(&mut flights, "a", 2), generation);
}

#[test]
fn a_follower_that_leaves_is_not_landed_and_the_request_goes_on() {
    let (mut flights, generation) = flight_of(4);
    assert_eq!(flights.leave(&"a", generation, &3), Ok(Departure::Follower(3)));
    assert_eq!(flights.leave(&"a", generation, &3), Err(NotAboard), "it left before");
    assert_eq!(flights.land(&"a", generation), Ok(vec![1, 2, 4]));
    assert_eq!(flights.leave(&"a", generation, &2), Err(NotAboard), "it has landed");
}

#[test]
fn a_leader_leaving_is_an_abandoning() {
    let (mut flights, generation) = flight_of(2);
    let (mut twin, same) = flight_of(2);
    let left = flights.leave(&"a", generation, &1).unwrap();
    assert_eq!(left, Departure::Leader(twin.abandon(&"a", same).unwrap()));
    let (mut alone, generation) = flight_of(1);
    let nobody = Handover { left: 1, next: None };
    assert_eq!(alone.leave(&"a", generation, &1), Ok(Departure::Leader(nobody)));
    assert!(alone.is_empty());
}

#[test]
fn a_follower_can_leave_after_a_handover_and_when_it_leads_itself() {
    let (mut flights, first) = flight_of(4);
    let second = flights.abandon(&"a", first).unwrap().next.unwrap().1;
    assert_eq!(flights.leave(&"a", first, &3), Ok(Departure::Follower(3)));
    assert_eq!(flights.leave(&"a", first, &1), Err(NotAboard), "it has abandoned");
    assert_eq!(follow(&mut flights, "a", 5), first);
    let Ok(Departure::Leader(handover)) = flights.leave(&"a", first, &2) else {
        panic!("2 does not lead");
    };
    let (&leader, third) = handover.next.unwrap();
    assert_eq!((handover.left, leader), (2, 4));
    assert_eq!(flights.leave(&"a", second, &5), Err(NotAboard), "no such leader any more");
    assert_eq!(flights.leave(&"a", third, &5), Ok(Departure::Follower(5)));
    assert_eq!(flights.land(&"a", third), Ok(vec![4]));
}

#[test]
fn nobody_leaves_a_newer_flight_or_another_key_by_mistake() {
    let (mut flights, old) = flight_of(2);
    assert_eq!(flights.land(&"a", old), Ok(vec![1, 2]));
    let new = lead(&mut flights, "a", 1);
    let other = lead(&mut flights, "b", 1);
    let _ = follow(&mut flights, "a", 2);
    for stale in [old, other] {
        assert_eq!(flights.leave(&"a", stale, &1), Err(NotAboard));
        assert_eq!(flights.leave(&"a", stale, &2), Err(NotAboard));
    }
    assert_eq!(flights.land(&"a", new), Ok(vec![1, 2]));
}

#[test]
fn of_several_places_the_last_joined_goes_and_the_leading_one_last() {
    let (mut flights, generation) = flight_of(2);
    for member in [1, 2, 3, 2] {
        let _ = follow(&mut flights, "a", member);
    }
    assert_eq!(flights.leave(&"a", generation, &2), Ok(Departure::Follower(2)));
    assert_eq!(flights.leave(&"a", generation, &1), Ok(Departure::Follower(1)));
    assert_eq!(flights.land(&"a", generation), Ok(vec![1, 2, 2, 3]));
}

#[test]
fn a_place_that_was_left_is_free() {
    let mut flights = Flights::new(FlightLimits::new(1, 2).unwrap());
    let generation = lead(&mut flights, "a", 1);
    let _ = follow(&mut flights, "a", 2);
    assert!(flights.join("a", 3).is_err());
    assert_eq!(flights.leave(&"a", generation, &2), Ok(Departure::Follower(2)));
    let _ = follow(&mut flights, "a", 3);
}

#[test]
fn flights_and_members_are_bounded() {
    let mut flights = Flights::new(FlightLimits::new(2, 2).unwrap());
    let a = lead(&mut flights, "a", 1);
    let _ = lead(&mut flights, "b", 2);
    assert_eq!(flights.join("c", 3), Err(FlightRefusal::TooManyFlights { limit: 2 }));
    let _ = follow(&mut flights, "a", 4);
    assert_eq!(flights.join("a", 5), Err(FlightRefusal::TooManyMembers { limit: 2 }));
    assert_eq!(flights.land(&"a", a), Ok(vec![1, 4]));
    let _ = lead(&mut flights, "c", 3);
}

#[test]
fn a_limit_of_zero_is_refused_by_name() {
    let told = |limits: Result<FlightLimits, ZeroLimit>| limits.unwrap_err().to_string();
    assert!(told(FlightLimits::new(0, 1)).starts_with("the limit of flights"));
    assert!(told(FlightLimits::new(1, 0)).starts_with("the limit of members"));
}

#[test]
fn the_defaults_could_be_given() {
    let given = FlightLimits::new(DEFAULT_FLIGHTS, DEFAULT_MEMBERS);
    assert_eq!(given, Ok(FlightLimits::default()));
}
