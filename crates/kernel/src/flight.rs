//! One request for many askers: whoever comes first makes it, whoever comes meanwhile shares it.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::limit::{ZeroLimit, at_least_one};

/// Flights at once, unless told otherwise.
pub const DEFAULT_FLIGHTS: usize = 4_096;

/// Members of one flight, the leader included, unless told otherwise.
pub const DEFAULT_MEMBERS: usize = 10_000;

/// The two bounds of [`Flights`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlightLimits {
    flights: usize,
    members: usize,
}

/// Who waits for which request that is under way.
///
/// Nothing is kept of a flight that has landed: whoever joins next leads a new one. Each joining is
/// a place of its own, so a member that joins twice is landed twice.
#[derive(Debug)]
pub struct Flights<K, M> {
    limits: FlightLimits,
    airborne: HashMap<K, Flight<M>>,
    /// The generation given last.
    generation: u64,
}

#[derive(Debug)]
struct Flight<M> {
    generation: Generation,
    leader: M,
    followers: VecDeque<M>,
}

/// Which flight of a key, under which leader: the request carries it, so that a late answer can't
/// pass for the answer of a newer flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation(u64);

/// What a member is to do.
#[must_use = "a leader that makes no request leaves its followers waiting"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Make the request, then [`Flights::land`] or [`Flights::abandon`] this generation.
    Leader(Generation),
    /// Wait: the leader's answer is yours too.
    Follower,
}

/// What becomes of a flight whose leader left it.
#[must_use = "the next leader must make the request, or its followers wait for ever"]
#[derive(Debug, PartialEq, Eq)]
pub struct Handover<'a, M> {
    /// The leader that left and will not be landed.
    pub left: M,
    /// Who leads now, and under which generation; `None` when nobody was left to lead.
    pub next: Option<(&'a M, Generation)>,
}

/// A joining that found no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlightRefusal {
    /// No further key.
    #[error("all {limit} flights are under way; ask again when one has landed")]
    TooManyFlights {
        /// How many there may be.
        limit: usize,
    },
    /// No further member of this key's flight.
    #[error("the flight has its {limit} members; ask again when it has landed")]
    TooManyMembers {
        /// How many there may be.
        limit: usize,
    },
}

/// An answer for a flight that is no longer under way; nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this flight has landed or has another leader; count the answer as stale and drop it")]
pub struct StaleFlight;

impl FlightLimits {
    /// At most `flights` keys at once with at most `members` each.
    ///
    /// # Errors
    /// [`ZeroLimit`] names the limit that is zero.
    pub fn new(flights: usize, members: usize) -> Result<Self, ZeroLimit> {
        let flights = at_least_one("the limit of flights", flights)?;
        let members = at_least_one("the limit of members of a flight", members)?;
        Ok(Self { flights, members })
    }
}

impl Default for FlightLimits {
    fn default() -> Self {
        Self { flights: DEFAULT_FLIGHTS, members: DEFAULT_MEMBERS }
    }
}

impl<K: Eq + Hash, M> Flights<K, M> {
    /// A table with nothing under way.
    #[must_use]
    pub fn new(limits: FlightLimits) -> Self {
        Self { limits, airborne: HashMap::new(), generation: 0 }
    }

    /// Joins the flight of `key`, or leads a new one if there is none.
    ///
    /// # Errors
    /// [`FlightRefusal`] says which bound is reached; `member` waits for nothing then.
    pub fn join(&mut self, key: K, member: M) -> Result<Role, FlightRefusal> {
        let FlightLimits { flights, members } = self.limits;
        if let Some(flight) = self.airborne.get_mut(&key) {
            if flight.followers.len().saturating_add(1) >= members {
                return Err(FlightRefusal::TooManyMembers { limit: members });
            }
            flight.followers.push_back(member);
            return Ok(Role::Follower);
        }
        if self.airborne.len() >= flights {
            return Err(FlightRefusal::TooManyFlights { limit: flights });
        }
        let generation = self.next_generation();
        let flight = Flight { generation, leader: member, followers: VecDeque::new() };
        self.airborne.insert(key, flight);
        Ok(Role::Leader(generation))
    }

    /// The answer is there: everyone who waits for it, the leader first, then in order of joining.
    ///
    /// # Errors
    /// [`StaleFlight`] when `generation` is not the one under way.
    pub fn land(&mut self, key: &K, generation: Generation) -> Result<Vec<M>, StaleFlight> {
        let (_, flight) = self.take(key, generation)?;
        Ok(std::iter::once(flight.leader).chain(flight.followers).collect())
    }

    /// The leader leaves without an answer: who joined next leads from here on, in a new generation.
    ///
    /// # Errors
    /// [`StaleFlight`] when `generation` is not the one under way.
    pub fn abandon(
        &mut self,
        key: &K,
        generation: Generation,
    ) -> Result<Handover<'_, M>, StaleFlight> {
        let (key, Flight { leader: left, mut followers, .. }) = self.take(key, generation)?;
        let Some(leader) = followers.pop_front() else {
            return Ok(Handover { left, next: None });
        };
        let generation = self.next_generation();
        let flight = Flight { generation, leader, followers };
        let flight = self.airborne.entry(key).insert_entry(flight).into_mut();
        Ok(Handover { left, next: Some((&flight.leader, generation)) })
    }

    /// How many flights are under way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.airborne.len()
    }

    /// Whether nothing is under way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.airborne.is_empty()
    }

    fn take(&mut self, key: &K, generation: Generation) -> Result<(K, Flight<M>), StaleFlight> {
        match self.airborne.get(key) {
            Some(flight) if flight.generation == generation => {
                self.airborne.remove_entry(key).ok_or(StaleFlight)
            }
            _ => Err(StaleFlight),
        }
    }

    fn next_generation(&mut self) -> Generation {
        self.generation = self.generation.saturating_add(1);
        Generation(self.generation)
    }
}

impl<K: Eq + Hash, M> Default for Flights<K, M> {
    fn default() -> Self {
        Self::new(FlightLimits::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(
        flights: &mut Flights<&'static str, u32>,
        key: &'static str,
        member: u32,
    ) -> Generation {
        match flights.join(key, member) {
            Ok(Role::Leader(generation)) => generation,
            other => panic!("{member} does not lead: {other:?}"),
        }
    }

    #[test]
    fn the_first_leads_the_others_follow_and_all_land_once() {
        let mut flights = Flights::default();
        let generation = lead(&mut flights, "a", 1);
        assert_eq!(flights.join("a", 2), Ok(Role::Follower));
        assert_eq!(flights.join("a", 3), Ok(Role::Follower));
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
        assert_eq!(flights.join("a", 2), Ok(Role::Follower));
        assert_eq!(flights.join("a", 3), Ok(Role::Follower));
        let handover = flights.abandon(&"a", old).unwrap();
        let (left, (&leader, new)) = (handover.left, handover.next.unwrap());
        assert_eq!((left, leader), (1, 2));
        assert_eq!(flights.land(&"a", old), Err(StaleFlight), "its answer comes too late");
        assert_eq!(flights.join("a", 4), Ok(Role::Follower));
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
    fn flights_and_members_are_bounded() {
        let mut flights = Flights::new(FlightLimits::new(2, 2).unwrap());
        let a = lead(&mut flights, "a", 1);
        let _ = lead(&mut flights, "b", 2);
        assert_eq!(flights.join("c", 3), Err(FlightRefusal::TooManyFlights { limit: 2 }));
        assert_eq!(flights.join("a", 4), Ok(Role::Follower));
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
}
