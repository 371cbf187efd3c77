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
    /// The generation of its first leader: it names the flight through every handover.
    first: Generation,
    generation: Generation,
    leader: M,
    followers: VecDeque<M>,
}

/// Which flight of a key, under which leader: the request carries it, so that a late answer can't
/// pass for the answer of a newer flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation(u64);

/// What a member is to do.
///
/// The table can't see that a member is gone. So the caller keeps a guard from the joining to the
/// landing: when it is dropped before (a timeout, a cancelled task, a panic), a leader's guard
/// abandons the flight and a follower's guard leaves it; either tells the next leader, if there is
/// one. Without a guard the followers wait for an answer that never comes, and places stay taken.
#[must_use = "a leader that makes no request leaves its followers waiting"]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Make the request, then [`Flights::land`] or [`Flights::abandon`] this generation.
    Leader(Generation),
    /// Wait: the leader's answer is yours too. To wait no longer, [`Flights::leave`] with this
    /// generation, the flight's first, which holds for that however often the flight is handed
    /// over; landing is the leader's alone.
    Follower(Generation),
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

/// What became of a flight that somebody left.
#[must_use = "the next leader must make the request, or its followers wait for ever"]
#[derive(Debug, PartialEq, Eq)]
pub enum Departure<'a, M> {
    /// This follower left; the leader's request goes on.
    Follower(M),
    /// The leader left.
    Leader(Handover<'a, M>),
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

/// A leaving of a flight that the member is not aboard of; nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the member is not aboard: it has landed or left before; there is nothing more to leave")]
pub struct NotAboard;

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
            return Ok(Role::Follower(flight.first));
        }
        if self.airborne.len() >= flights {
            return Err(FlightRefusal::TooManyFlights { limit: flights });
        }
        let generation = self.next_generation();
        let followers = VecDeque::new();
        let flight = Flight { first: generation, generation, leader: member, followers };
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
        let (key, Flight { first, leader: left, mut followers, .. }) =
            self.take(key, generation)?;
        let Some(leader) = followers.pop_front() else {
            return Ok(Handover { left, next: None });
        };
        let generation = self.next_generation();
        let flight = Flight { first, generation, leader, followers };
        let flight = self.airborne.entry(key).insert_entry(flight).into_mut();
        Ok(Handover { left, next: Some((&flight.leader, generation)) })
    }

    /// `member` waits no longer, in time that grows with the flight's members. A leader that leaves
    /// does what [`Flights::abandon`] does.
    ///
    /// `generation` is the one that its joining gave it, or, for a leader, the one it leads under.
    /// Of several places of `member` the last joined goes, so that its request is given up last.
    ///
    /// # Errors
    /// [`NotAboard`] when `generation` names no flight under way, or `member` is not aboard of it.
    pub fn leave(
        &mut self,
        key: &K,
        generation: Generation,
        member: &M,
    ) -> Result<Departure<'_, M>, NotAboard>
    where
        M: PartialEq,
    {
        let flight = self.airborne.get_mut(key).ok_or(NotAboard)?;
        if generation != flight.first && generation != flight.generation {
            return Err(NotAboard);
        }
        if let Some(place) = flight.followers.iter().rposition(|follower| follower == member) {
            return flight.followers.remove(place).map(Departure::Follower).ok_or(NotAboard);
        }
        if flight.leader != *member {
            return Err(NotAboard);
        }
        let generation = flight.generation;
        self.abandon(key, generation).map(Departure::Leader).map_err(|StaleFlight| NotAboard)
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
mod tests;
