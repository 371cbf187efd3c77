//! The model is a list of members for each key, the leader first.

use std::collections::BTreeMap;

use mainstay_kernel::{
    Departure, FlightLimits, FlightRefusal, Flights, Generation, Handover, NotAboard, Role,
    StaleFlight,
};
use proptest::prelude::*;

const FLIGHTS: usize = 3;
const MEMBERS: usize = 4;

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Few members, so that one joins the same flight twice.
    Join(u8, u32),
    /// Lands a key under a generation of [`Model::generation`].
    Land(u8, usize),
    Abandon(u8, usize),
    Leave(u8, usize, u32),
}

#[derive(Clone)]
struct Flight {
    first: Generation,
    generation: Generation,
    /// The leader first.
    members: Vec<u32>,
}

/// What is under way, every generation ever given out, and who went up and came down.
#[derive(Default)]
struct Model {
    airborne: BTreeMap<u8, Flight>,
    given: Vec<Generation>,
    joined: Vec<u32>,
    landed: Vec<u32>,
}

impl Model {
    /// Mostly a generation of the flight under way, sometimes any that ever was.
    fn generation(&self, key: u8, pick: usize) -> Option<Generation> {
        match (self.airborne.get(&key), pick % 4) {
            (Some(flight), 0 | 1) => Some(flight.generation),
            (Some(flight), 2) => Some(flight.first),
            _ => self.given.get(pick % self.given.len().max(1)).copied(),
        }
    }

    fn take(&mut self, key: u8, generation: Generation) -> Option<Flight> {
        if self.airborne.get(&key)?.generation != generation {
            return None;
        }
        self.airborne.remove(&key)
    }

    /// The last place of `member`; 0 is the leader's.
    fn place(&self, key: u8, generation: Generation, member: u32) -> Option<usize> {
        let flight = self.airborne.get(&key)?;
        let known = [flight.first, flight.generation].contains(&generation);
        flight.members.iter().rposition(|other| known && *other == member)
    }

    fn hand_over(&mut self, key: u8, mut flight: Flight, handover: &Handover<'_, u32>) {
        let left = flight.members.remove(0);
        assert_eq!(handover.left, left);
        assert_eq!(handover.next.map(|(leader, _)| leader), flight.members.first());
        self.landed.push(left);
        if let Some((_, generation)) = handover.next {
            self.give(generation);
            self.airborne.insert(key, Flight { generation, ..flight });
        }
    }

    fn give(&mut self, generation: Generation) {
        assert!(!self.given.contains(&generation), "{generation:?} was given twice");
        self.given.push(generation);
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..5_u8, 0..6_u32).prop_map(|(key, member)| Step::Join(key, member)),
        2 => (0..5_u8, any::<usize>()).prop_map(|(key, pick)| Step::Land(key, pick)),
        2 => (0..5_u8, any::<usize>()).prop_map(|(key, pick)| Step::Abandon(key, pick)),
        3 => (0..5_u8, any::<usize>(), 0..6_u32)
            .prop_map(|(key, pick, member)| Step::Leave(key, pick, member)),
    ]
}

fn join(flights: &mut Flights<u8, u32>, model: &mut Model, key: u8, member: u32) {
    let role = flights.join(key, member);
    if let Some(Flight { first, members, .. }) = model.airborne.get_mut(&key) {
        if members.len() == MEMBERS {
            assert_eq!(role, Err(FlightRefusal::TooManyMembers { limit: MEMBERS }));
        } else {
            assert_eq!(role, Ok(Role::Follower(*first)));
            members.push(member);
        }
    } else if model.airborne.len() == FLIGHTS {
        assert_eq!(role, Err(FlightRefusal::TooManyFlights { limit: FLIGHTS }));
    } else {
        let Ok(Role::Leader(generation)) = role else { panic!("{member} must lead: {role:?}") };
        model.give(generation);
        let flight = Flight { first: generation, generation, members: vec![member] };
        model.airborne.insert(key, flight);
    }
    model.joined.extend(role.is_ok().then_some(member));
}

fn land(flights: &mut Flights<u8, u32>, model: &mut Model, key: u8, generation: Generation) {
    let expected = model.take(key, generation).map(|flight| flight.members).ok_or(StaleFlight);
    assert_eq!(flights.land(&key, generation), expected);
    model.landed.extend(expected.unwrap_or_default());
}

fn abandon(flights: &mut Flights<u8, u32>, model: &mut Model, key: u8, generation: Generation) {
    match model.take(key, generation) {
        Some(flight) => {
            model.hand_over(key, flight, &flights.abandon(&key, generation).unwrap());
        }
        None => assert_eq!(flights.abandon(&key, generation), Err(StaleFlight)),
    }
}

fn leave(
    flights: &mut Flights<u8, u32>,
    model: &mut Model,
    key: u8,
    generation: Generation,
    member: u32,
) {
    let place = model.place(key, generation, member);
    match (flights.leave(&key, generation, &member), place) {
        (left, None) => assert_eq!(left, Err(NotAboard)),
        (Ok(Departure::Leader(handover)), Some(0)) => {
            let flight = model.airborne.remove(&key).unwrap();
            model.hand_over(key, flight, &handover);
        }
        (left, Some(place)) => {
            assert_eq!(left, Ok(Departure::Follower(member)));
            assert_ne!(place, 0, "a leader left without a handover");
            model.landed.push(model.airborne.get_mut(&key).unwrap().members.remove(place));
        }
    }
}

fn step(flights: &mut Flights<u8, u32>, model: &mut Model, step: Step) {
    match step {
        Step::Join(key, member) => join(flights, model, key, member),
        Step::Land(key, pick) => {
            if let Some(generation) = model.generation(key, pick) {
                land(flights, model, key, generation);
            }
        }
        Step::Abandon(key, pick) => {
            if let Some(generation) = model.generation(key, pick) {
                abandon(flights, model, key, generation);
            }
        }
        Step::Leave(key, pick, member) => {
            if let Some(generation) = model.generation(key, pick) {
                leave(flights, model, key, generation, member);
            }
        }
    }
}

proptest! {
    #[test]
    fn every_joining_comes_down_once(steps in proptest::collection::vec(any_step(), 0..200)) {
        let mut flights = Flights::new(FlightLimits::new(FLIGHTS, MEMBERS).unwrap());
        let mut model = Model::default();
        for one in steps {
            step(&mut flights, &mut model, one);
            prop_assert_eq!(flights.len(), model.airborne.len());
            prop_assert_eq!(flights.is_empty(), model.airborne.is_empty());
        }
        for (key, flight) in model.airborne.clone() {
            land(&mut flights, &mut model, key, flight.generation);
        }
        prop_assert!(flights.is_empty());
        model.joined.sort_unstable();
        model.landed.sort_unstable();
        prop_assert_eq!(model.landed, model.joined, "a joining came down twice, or never");
    }
}
