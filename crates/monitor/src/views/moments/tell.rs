//! Changes told by their causes, newest first: what many report is one thing, whoever leans on what changed
//! has changed because of it, and those that did so within a short time are one moment. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_graph::components::Components;

use super::MOST_MOMENTS;
use super::around::Around;
use super::facts::{Subject, subjects};
use super::item::{Moment, MomentNode};
use super::runs::{GAP, Run, Way, runs};
use crate::graph::show::external_id;
use crate::graph::view::GraphNodeKind;
use crate::names::compared;
use crate::views::activity::ActivityItem;

/// The most nodes of a circle, and the most followers, that are named.
const MOST_NAMED: usize = 5;

/// A moment, and since when what is told of it happened.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) moment: Moment,
    begin: Timestamp,
    /// The names of what began it, as they are compared.
    roots: Vec<String>,
}

impl Told {
    /// Whether nothing of it can be missing when everything was read that changed after `oldest`.
    pub(super) fn is_whole(&self, oldest: Timestamp) -> bool {
        self.begin.since(oldest) > GAP
    }
}

/// What changed, newest first.
pub(super) fn tell(changes: &[ActivityItem], around: &Around) -> Vec<Told> {
    let telling = Telling { subjects: subjects(changes, around), around };
    let all: Vec<Run> = telling.subjects.iter().flat_map(|(key, one)| runs(key, one)).collect();
    let (mut caused, mut of_nobody): (Vec<Run>, Vec<Run>) =
        all.into_iter().partition(|run| matches!(run.way, Way::Worse | Way::Better));
    caused.sort_by_key(|run| (run.start(), run.number()));
    of_nobody.sort_by_key(|run| (run.start(), run.number()));
    let groups = telling.by_cause(&caused).into_iter().chain(at_once(&of_nobody));
    let mut told: Vec<Told> = groups.filter_map(|group| telling.told(&group)).collect();
    told.sort_by_key(|one| std::cmp::Reverse((one.moment.at, one.moment.id)));
    // No others are shown, and each takes a look at all that is read.
    for one in told.iter_mut().take(MOST_MOMENTS) {
        one.moment.because = telling.because(one, &caused);
    }
    told
}

/// Runs that are told together: those that began it, and those that followed.
struct Group<'a> {
    roots: Vec<&'a Run>,
    followers: Vec<&'a Run>,
}

struct Telling<'a> {
    subjects: BTreeMap<String, Subject>,
    around: &'a Around,
}

impl Telling<'_> {
    /// Whoever has several causes is told with the one that began nearest to it.
    fn by_cause<'a>(&self, runs: &'a [Run]) -> Vec<Group<'a>> {
        let mut by_key: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, run) in runs.iter().enumerate() {
            by_key.entry(&run.key).or_default().push(place);
        }
        let causes: Vec<Vec<usize>> =
            runs.iter().map(|run| self.causes(run, runs, &by_key)).collect();
        let components = Components::among(&causes);
        let mut root_of: Vec<usize> = Vec::with_capacity(components.len());
        let mut groups: BTreeMap<usize, Group<'a>> = BTreeMap::new();
        for component in 0..components.len() {
            let members = components.members(component);
            let nearest =
                nearest(members, runs, &causes, |place| components.of(place) != Some(component));
            // What a component leans on has a lower number, so its cause is known by then.
            let cause = nearest.and_then(|place| root_of.get(components.of(place)?).copied());
            let own = members.iter().filter_map(|&place| runs.get(place));
            match cause.and_then(|root| groups.get_mut(&root)) {
                Some(group) => group.followers.extend(own),
                None => drop(
                    groups.insert(component, Group { roots: own.collect(), followers: Vec::new() }),
                ),
            }
            root_of.push(cause.unwrap_or(component));
        }
        groups.into_values().collect()
    }

    /// What a run may be because of.
    fn causes(&self, run: &Run, runs: &[Run], by_key: &HashMap<&str, Vec<usize>>) -> Vec<usize> {
        let keys = self.leans_on(&run.key);
        let places = keys.into_iter().filter_map(|key| by_key.get(key.as_str())).flatten().copied();
        let mut causes: Vec<usize> = places
            .filter(|&place| runs.get(place).is_some_and(|cause| run.can_follow(cause)))
            .collect();
        causes.sort_unstable();
        causes
    }

    fn told(&self, group: &Group<'_>) -> Option<Told> {
        let first = *group.roots.iter().min_by_key(|run| (run.start(), run.number()))?;
        let roots = unique(&group.roots, &HashSet::new());
        let known: HashSet<&str> = roots.iter().map(|run| run.key.as_str()).collect();
        let followers = unique(&group.followers, &known);
        let begin = group.roots.iter().chain(&group.followers).map(|run| run.start()).min()?;
        let moment = Moment {
            id: first.number(),
            at: first.start(),
            settled_at: first.settled(),
            nodes: roots.iter().take(MOST_NAMED).map(|run| self.node(&run.key)).collect(),
            node_count: roots.len(),
            path: first.path().into_iter().map(|status| status.map(Into::into)).collect(),
            followers: followers
                .iter()
                .take(MOST_NAMED)
                .map(|run| self.node(&run.key).name)
                .collect(),
            follower_count: followers.len(),
            because: None,
        };
        let roots = roots.iter().map(|run| run.key.clone()).collect();
        Some(Told { moment, begin, roots })
    }

    /// What it fails because of that failed long before it, by what is read, or else by the graph.
    fn because(&self, told: &Told, runs: &[Run]) -> Option<String> {
        let is_first = |run: &&Run| run.number() == told.moment.id && told.roots.contains(&run.key);
        let run = runs.iter().find(is_first).filter(|run| run.way == Way::Worse)?;
        let roots: HashSet<&str> = told.roots.iter().map(String::as_str).collect();
        let (mut at, mut seen) = (run, roots.clone());
        while let Some(cause) = self.lasting(at, runs, &seen) {
            seen.insert(&cause.key);
            at = cause;
        }
        if at.key != run.key {
            return Some(self.node(&at.key).name);
        }
        let now = self.around.get(&run.key).filter(|_| run.over.is_none())?;
        let cause = now.because.clone()?;
        (!roots.contains(compared(&cause).as_str())).then_some(cause)
    }

    /// The last that began to fail, of what it leans on and what still failed when it did.
    fn lasting<'a>(&self, run: &Run, runs: &'a [Run], seen: &HashSet<&str>) -> Option<&'a Run> {
        let keys = self.leans_on(&run.key);
        let lasting = runs.iter().filter(|cause| {
            keys.contains(&cause.key)
                && !seen.contains(cause.key.as_str())
                && cause.lasts_until(run)
        });
        lasting.max_by_key(|cause| (cause.start(), cause.number()))
    }

    /// What something leans on now, and did when it changed.
    fn leans_on(&self, key: &str) -> HashSet<&String> {
        let now = self.around.get(key).into_iter().flat_map(|now| &now.leans_on);
        let then = self.subjects.get(key).into_iter().flat_map(|then| &then.leans_on);
        now.chain(then).filter(|other| *other != key).collect()
    }

    fn node(&self, key: &str) -> MomentNode {
        if let Some(now) = self.around.get(key) {
            return MomentNode { id: now.id.clone(), kind: now.kind, name: now.name.clone() };
        }
        let subject = self.subjects.get(key);
        let name = subject.map_or_else(|| key.to_owned(), |subject| subject.name.clone());
        match subject.and_then(|subject| subject.service) {
            Some(id) => MomentNode { id: id.to_string(), kind: GraphNodeKind::Service, name },
            None => MomentNode { id: external_id(key), kind: GraphNodeKind::External, name },
        }
    }
}

/// The cause outside that began nearest to one of these runs.
fn nearest(
    members: &[usize],
    runs: &[Run],
    causes: &[Vec<usize>],
    is_outside: impl Fn(usize) -> bool,
) -> Option<usize> {
    let distance = |member: usize, cause: usize| -> Option<(Duration, Timestamp, usize)> {
        let (run, cause_run) = (runs.get(member)?, runs.get(cause)?);
        Some((run.distance(cause_run), cause_run.start(), cause))
    };
    let of = |&member: &usize| {
        causes.get(member).into_iter().flatten().map(move |&cause| (member, cause))
    };
    let outside = members.iter().flat_map(of).filter(|&(_, cause)| is_outside(cause));
    outside.filter_map(|(member, cause)| distance(member, cause)).min().map(|(_, _, cause)| cause)
}

/// Runs that followed each other soon, each kind by itself: none of them is the cause of another.
fn at_once(runs: &[Run]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for way in [Way::Unknown, Way::Known] {
        let mut last: Option<Timestamp> = None;
        for run in runs.iter().filter(|run| run.way == way) {
            match groups.last_mut() {
                Some(group) if last.is_some_and(|last| run.start().since(last) <= GAP) => {
                    group.followers.push(run);
                }
                _ => groups.push(Group { roots: vec![run], followers: Vec::new() }),
            }
            last = Some(run.last());
        }
    }
    groups
}

/// The first run of each thing, in the order of time.
fn unique<'a>(runs: &[&'a Run], known: &HashSet<&str>) -> Vec<&'a Run> {
    let mut in_order = runs.to_vec();
    in_order.sort_by_key(|run| (run.start(), run.number()));
    let mut seen: HashSet<&'a str> = HashSet::new();
    in_order.retain(|run| !known.contains(run.key.as_str()) && seen.insert(run.key.as_str()));
    in_order
}

#[cfg(test)]
mod tests;
