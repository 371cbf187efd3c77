//! The model is a list of members for each key, the leader first.

use std::collections::BTreeMap;

use mainstay_kernel::{FlightLimits, FlightRefusal, Flights, Generation, Role, StaleFlight};
use proptest::prelude::*;

const FLIGHTS: usize = 3;
const MEMBERS: usize = 4;

#[derive(Debug, Clone)]
enum Step {
    Join(u8),
    /// Lands a key under the generation that was given out as the n-th.
    Land(u8, usize),
    Abandon(u8, usize),
}

/// What is under way, and every generation ever given out.
#[derive(Default)]
struct Model {
    airborne: BTreeMap<u8, (Generation, Vec<u32>)>,
    given: Vec<Generation>,
    landed: Vec<u32>,
}

impl Model {
    /// Mostly the generation under way, sometimes any that ever was.
    fn generation(&self, key: u8, pick: usize) -> Option<Generation> {
        match self.airborne.get(&key) {
            Some((generation, _)) if pick.is_multiple_of(2) => Some(*generation),
            _ => self.given.get(pick % self.given.len().max(1)).copied(),
        }
    }

    fn take(&mut self, key: u8, generation: Generation) -> Option<Vec<u32>> {
        if self.airborne.get(&key)?.0 != generation {
            return None;
        }
        self.airborne.remove(&key).map(|(_, members)| members)
    }

    fn give(&mut self, generation: Generation) {
        assert!(!self.given.contains(&generation), "{generation:?} was given twice");
        self.given.push(generation);
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..5_u8).prop_map(Step::Join),
        2 => (0..5_u8, any::<usize>()).prop_map(|(key, pick)| Step::Land(key, pick)),
        2 => (0..5_u8, any::<usize>()).prop_map(|(key, pick)| Step::Abandon(key, pick)),
    ]
}

fn join(flights: &mut Flights<u8, u32>, model: &mut Model, key: u8, member: u32) {
    let role = flights.join(key, member);
    if let Some((_, members)) = model.airborne.get_mut(&key) {
        if members.len() == MEMBERS {
            assert_eq!(role, Err(FlightRefusal::TooManyMembers { limit: MEMBERS }));
        } else {
            assert_eq!(role, Ok(Role::Follower));
            members.push(member);
        }
    } else if model.airborne.len() == FLIGHTS {
        assert_eq!(role, Err(FlightRefusal::TooManyFlights { limit: FLIGHTS }));
    } else {
        let Ok(Role::Leader(generation)) = role else { panic!("{member} must lead: {role:?}") };
        model.give(generation);
        model.airborne.insert(key, (generation, vec![member]));
    }
}

fn land(flights: &mut Flights<u8, u32>, model: &mut Model, key: u8, generation: Generation) {
    let expected = model.take(key, generation).ok_or(StaleFlight);
    assert_eq!(flights.land(&key, generation), expected);
    model.landed.extend(expected.unwrap_or_default());
}

fn abandon(flights: &mut Flights<u8, u32>, model: &mut Model, key: u8, generation: Generation) {
    let Some(mut members) = model.take(key, generation) else {
        assert_eq!(flights.abandon(&key, generation), Err(StaleFlight));
        return;
    };
    let handover = flights.abandon(&key, generation).unwrap();
    let left = members.remove(0);
    assert_eq!(handover.left, left);
    assert_eq!(handover.next.map(|(leader, _)| leader), members.first());
    model.landed.push(left);
    if let Some((_, next)) = handover.next {
        model.give(next);
        model.airborne.insert(key, (next, members));
    }
}

proptest! {
    #[test]
    fn everyone_who_joined_comes_down_once(steps in proptest::collection::vec(any_step(), 0..200)) {
        let mut flights = Flights::new(FlightLimits::new(FLIGHTS, MEMBERS).unwrap());
        let mut model = Model::default();
        let mut member = 0;
        for step in steps {
            match step {
                Step::Join(key) => {
                    member += 1;
                    join(&mut flights, &mut model, key, member);
                }
                Step::Land(key, pick) => {
                    if let Some(generation) = model.generation(key, pick) {
                        land(&mut flights, &mut model, key, generation);
                    }
                }
                Step::Abandon(key, pick) => {
                    if let Some(generation) = model.generation(key, pick) {
                        abandon(&mut flights, &mut model, key, generation);
                    }
                }
            }
            prop_assert_eq!(flights.len(), model.airborne.len());
            prop_assert_eq!(flights.is_empty(), model.airborne.is_empty());
        }
        for (key, (generation, _)) in model.airborne.clone() {
            land(&mut flights, &mut model, key, generation);
        }
        prop_assert!(flights.is_empty());
        let landed = model.landed.len();
        model.landed.sort_unstable();
        model.landed.dedup();
        prop_assert_eq!(model.landed.len(), landed, "somebody came down twice");
    }
}
