//! Which external thing may be a service that is watched: by what they are called, and by hosts. Only a
//! suggestion: somebody confirms it or dismisses it.

pub mod hosts;
mod names;
mod words;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use mainstay_base::Id;

use self::names::Names;
use crate::change::{Key, Service};
use crate::graph::Graph;

/// The most suggestions there are, the best first.
pub const MOST_SUGGESTIONS: usize = 200;

/// The most services that are suggested for one thing.
pub const MOST_FOR_ONE: usize = 3;

/// The score of a thing that names the host of a service.
const HOST_SCORE: u32 = 85;

/// What a second reason adds.
const BOTH_SCORE: u32 = 10;

/// The highest score: nobody but a person is certain.
const HIGHEST_SCORE: u32 = 99;

/// A host with more services than this tells nothing of any of them.
const MOST_ON_HOST: usize = 3;

/// An external thing that may be a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The key of the thing.
    pub key: Arc<str>,
    /// How the thing is called.
    pub name: Arc<str>,
    /// The number of the service.
    pub service: i64,
    /// The id of the service.
    pub service_id: Id,
    /// How the service is called.
    pub service_name: Arc<str>,
    /// How likely it is, from 0 to 100.
    pub score: u32,
    /// Why, the strongest reason first.
    pub reasons: Vec<Reason>,
}

/// Why a thing may be a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// They are called the same, but for words that say nothing.
    SameName,
    /// They are called alike: these words are in both names.
    SimilarName(Vec<Arc<str>>),
    /// The thing names the host of the service's endpoint.
    SameHost(Arc<str>),
}

/// Pairs of an external thing and the number of a service that somebody dismissed.
pub type Dismissed = BTreeSet<(Arc<str>, i64)>;

/// What is known of external things and of services, as far as it may tell which is which. It is only
/// copied, so that the graph is not held for long; [`find`] makes sense of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clues {
    /// Key and name of each thing.
    things: Vec<(Arc<str>, Arc<str>)>,
    /// By number.
    services: Vec<(i64, Candidate)>,
    reports: Vec<Heard>,
}

/// Who reports which thing, and which hosts that names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Heard {
    from: i64,
    key: Arc<str>,
    hosts: Box<[Arc<str>]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    id: Id,
    name: Arc<str>,
    host: Option<Arc<str>>,
}

/// A thing with all that is reported of it.
#[derive(Debug)]
struct Thing<'a> {
    name: &'a Arc<str>,
    reporters: BTreeSet<i64>,
    hosts: BTreeSet<&'a Arc<str>>,
}

/// Scores with their reasons, by service.
type Scored = BTreeMap<i64, (u32, Vec<Reason>)>;

/// What may be what, the likeliest first, without what was dismissed and without services that report
/// the thing themselves.
#[must_use]
pub fn find(clues: &Clues, dismissed: &Dismissed) -> Vec<Suggestion> {
    let names = Names::new(clues.services.iter().map(|(number, one)| (*number, &*one.name)));
    let by_host = by_host(clues);
    let mut all: Vec<Suggestion> = things(clues)
        .iter()
        .flat_map(|(&key, thing)| {
            let mut scored = scored(key, thing, &names, &by_host);
            scored.retain(|service, _| {
                let pair = (Arc::clone(key), *service);
                !thing.reporters.contains(service) && !dismissed.contains(&pair)
            });
            best(clues, key, thing, scored)
        })
        .collect();
    all.sort_by(|one, other| order(one).cmp(&order(other)));
    all.truncate(MOST_SUGGESTIONS);
    all
}

impl Clues {
    /// Gathers what is known.
    #[must_use]
    pub fn of(graph: &Graph) -> Self {
        let mut clues = Self::default();
        for (key, external) in graph.externals() {
            let name = Arc::clone(external.name().unwrap_or(key));
            clues.things.push((Arc::clone(key), name));
        }
        for (&number, reporter) in graph.reporters() {
            let Service { id, name, host, .. } = &reporter.service;
            let candidate = Candidate { id: *id, name: Arc::clone(name), host: host.clone() };
            clues.services.push((number, candidate));
            for held in reporter.dependencies.values() {
                if let Some(Key::External(key)) = &held.target {
                    let (key, hosts) = (Arc::clone(key), held.dependency.hosts.clone());
                    clues.reports.push(Heard { from: number, key, hosts });
                }
            }
        }
        clues
    }

    fn service(&self, number: i64) -> Option<&Candidate> {
        let found = self.services.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.services.get(found).map(|(_, candidate)| candidate)
    }
}

/// Each thing with all that is reported of it.
fn things(clues: &Clues) -> BTreeMap<&Arc<str>, Thing<'_>> {
    let bare = |name| Thing { name, reporters: BTreeSet::new(), hosts: BTreeSet::new() };
    let mut things: BTreeMap<&Arc<str>, Thing<'_>> =
        clues.things.iter().map(|(key, name)| (key, bare(name))).collect();
    for heard in &clues.reports {
        if let Some(thing) = things.get_mut(&heard.key) {
            thing.reporters.insert(heard.from);
            thing.hosts.extend(&heard.hosts);
        }
    }
    things
}

/// The services of each host that tells something.
fn by_host(clues: &Clues) -> HashMap<&str, Vec<i64>> {
    let mut all: HashMap<&str, Vec<i64>> = HashMap::new();
    for (number, candidate) in &clues.services {
        let host = candidate.host.as_deref().filter(|host| hosts::tells_something(host));
        host.into_iter().for_each(|host| all.entry(host).or_default().push(*number));
    }
    all.retain(|_, services| services.len() <= MOST_ON_HOST);
    all
}

fn scored(
    key: &Arc<str>,
    thing: &Thing<'_>,
    names: &Names,
    by_host: &HashMap<&str, Vec<i64>>,
) -> Scored {
    let mut scored: Scored = names
        .like(key)
        .into_iter()
        .map(|(service, score, reason)| (service, (score, vec![reason])))
        .collect();
    for &host in &thing.hosts {
        for &service in by_host.get(&**host).into_iter().flatten() {
            let (score, reasons) = scored.entry(service).or_default();
            if reasons.iter().any(|reason| matches!(reason, Reason::SameHost(_))) {
                continue;
            }
            let at = usize::from(*score > HOST_SCORE);
            let more = if reasons.is_empty() { 0 } else { BOTH_SCORE };
            *score = (*score).max(HOST_SCORE).saturating_add(more).min(HIGHEST_SCORE);
            reasons.insert(at, Reason::SameHost(Arc::clone(host)));
        }
    }
    scored
}

fn best(clues: &Clues, key: &Arc<str>, thing: &Thing<'_>, scored: Scored) -> Vec<Suggestion> {
    let mut all: Vec<Suggestion> = scored
        .into_iter()
        .filter_map(|(number, (score, reasons))| {
            let candidate = clues.service(number)?;
            Some(Suggestion {
                key: Arc::clone(key),
                name: Arc::clone(thing.name),
                service: number,
                service_id: candidate.id,
                service_name: Arc::clone(&candidate.name),
                score,
                reasons,
            })
        })
        .collect();
    all.sort_by(|one, other| order(one).cmp(&order(other)));
    all.truncate(MOST_FOR_ONE);
    all
}

fn order(one: &Suggestion) -> (Reverse<u32>, &Arc<str>, i64) {
    (Reverse(one.score), &one.key, one.service)
}
