//! Root causes and blast radius of random graphs, against references that are too simple to be wrong.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_base::Timestamp;
use mainstay_graph::{Change, Dependency, Graph, Key, Root, Snapshot, Status, causes, radius};
use proptest::prelude::*;

use crate::house::{at, dependency, service};

/// Services with how they are, and what they say of others and of things.
#[derive(Debug, Clone)]
struct World {
    services: Vec<Status>,
    said: Vec<Said>,
}

/// What a service says of an end: a service while there is one of that number, else a thing.
#[derive(Debug, Clone, Copy)]
struct Said {
    from: usize,
    to: usize,
    status: Status,
    since: i64,
}

/// The most things in a world.
const THINGS: usize = 4;

fn statuses() -> impl Strategy<Value = Status> {
    prop::sample::select(Status::ALL.to_vec())
}

fn worlds() -> impl Strategy<Value = World> {
    (1..12_usize).prop_flat_map(|len| {
        let said = (0..len, 0..len + THINGS, statuses(), 0..50_i64)
            .prop_map(|(from, to, status, since)| Said { from, to, status, since });
        (prop::collection::vec(statuses(), len), prop::collection::vec(said, 0..30))
            .prop_map(|(services, said)| World { services, said })
    })
}

impl World {
    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        for (number, status) in (1..).zip(&self.services) {
            graph.apply(Change::Service(service(number, &format!("n{}", number - 1), *status)));
        }
        for (number, said) in (1..).zip(&self.said) {
            let named = dependency(number, &format!("n{}", said.to), said.status);
            let dependency = Dependency { since: at(said.since), ..named };
            let service = i64::try_from(said.from).unwrap() + 1;
            graph.apply(Change::Dependency { service, dependency });
        }
        graph
    }

    /// What each says of each: the worst of what it says, and since when the first that is so bad.
    fn edges(&self) -> BTreeMap<(usize, usize), (Status, i64)> {
        let mut edges: BTreeMap<(usize, usize), (Status, i64)> = BTreeMap::new();
        for said in self.said.iter().filter(|said| said.from != said.to) {
            let edge = edges.entry((said.from, said.to)).or_insert((said.status, said.since));
            *edge = match said.status.cmp(&edge.0) {
                std::cmp::Ordering::Less => *edge,
                std::cmp::Ordering::Equal => (edge.0, edge.1.min(said.since)),
                std::cmp::Ordering::Greater => (said.status, said.since),
            };
        }
        edges
    }

    /// How an end is: a thing as the worst who says something of it.
    fn status(&self, end: usize) -> Status {
        let edges = self.edges();
        let of_it = edges.iter().filter(|((_, to), _)| *to == end).map(|(_, edge)| edge.0);
        self.services.get(end).copied().unwrap_or_else(|| of_it.max().unwrap())
    }

    fn since(&self, end: usize) -> Option<Timestamp> {
        if end < self.services.len() {
            return Some(at(i64::try_from(end).unwrap() + 1));
        }
        let edges = self.edges();
        let failing = edges.iter().filter(|((_, to), edge)| *to == end && edge.0.is_unhealthy());
        failing.map(|(_, edge)| at(edge.1)).min()
    }

    fn is_contradicted(&self, members: &[usize]) -> bool {
        self.edges().iter().any(|((from, to), (said, _))| {
            let is = self.status(*to);
            let is_opposite = (is == Status::Healthy && said.is_unhealthy())
                || (is == Status::Down && *said == Status::Healthy);
            is_opposite && (members.contains(from) || members.contains(to))
        })
    }
}

/// The ends that the nodes of a snapshot are.
fn ends(snapshot: &Snapshot) -> Vec<usize> {
    let end = |key: &Key| match key {
        Key::Service(number) => usize::try_from(*number).unwrap() - 1,
        Key::External(key) => key.strip_prefix('n').unwrap().parse().unwrap(),
    };
    snapshot.nodes().iter().map(|node| end(&node.key)).collect()
}

/// Who reaches whom over nodes that are `within`, in at least one step.
fn reaches(snapshot: &Snapshot, within: impl Fn(usize) -> bool) -> Vec<Vec<bool>> {
    let len = snapshot.nodes().len();
    let mut reach = vec![vec![false; len]; len];
    for edge in snapshot.edges() {
        reach[edge.from][edge.to] = within(edge.from) && within(edge.to);
    }
    for middle in 0..len {
        for from in 0..len {
            for to in 0..len {
                reach[from][to] |= reach[from][middle] && reach[middle][to];
            }
        }
    }
    reach
}

fn check_root(world: &World, ends: &[usize], root: &Root) -> Result<(), TestCaseError> {
    let members: Vec<usize> = root.members.iter().map(|&place| ends[place]).collect();
    prop_assert_eq!(root.since, members.iter().filter_map(|&end| world.since(end)).min());
    prop_assert_eq!(root.contradicted, world.is_contradicted(&members));
    Ok(())
}

proptest! {
    #[test]
    fn root_causes_are_those_of_the_definition(world in worlds()) {
        let snapshot = world.graph().snapshot();
        let ends = ends(&snapshot);
        let len = snapshot.nodes().len();
        let sick = |place: usize| snapshot.node(place).unwrap().status.is_unhealthy();
        for (place, &end) in ends.iter().enumerate() {
            prop_assert_eq!(snapshot.node(place).unwrap().status, world.status(end));
        }
        let (failing, whole) = (reaches(&snapshot, sick), reaches(&snapshot, |_| true));
        let is_root = |one: usize| sick(one) && (0..len).all(|to| !failing[one][to] || failing[to][one]);
        let circle = |one: usize| -> Vec<usize> {
            (0..len).filter(|&to| to == one || failing[one][to] && failing[to][one]).collect()
        };
        let expected: BTreeSet<Vec<usize>> = (0..len).filter(|&one| is_root(one)).map(circle).collect();
        let found = causes::find(&snapshot);
        let roots: BTreeSet<Vec<usize>> = found.roots.iter().map(|root| root.members.clone()).collect();
        prop_assert_eq!(&roots, &expected);
        prop_assert_eq!(roots.len(), found.roots.len());
        for root in &found.roots {
            let leaning = |one: &usize| !root.members.contains(one) && whole[*one][root.members[0]];
            prop_assert_eq!(root.hurts, (0..len).filter(leaning).count());
            let affected = |one: &usize| {
                !root.members.contains(one) && sick(*one) && failing[*one][root.members[0]]
            };
            prop_assert_eq!(root.affected, (0..len).filter(affected).count());
            check_root(&world, &ends, root)?;
        }
        let everybody: Vec<usize> = (0..len).collect();
        for &one in &everybody {
            let because: Vec<usize> = (0..found.roots.len())
                .filter(|&root| {
                    let member = found.roots[root].members[0];
                    sick(one) && (found.roots[root].members.contains(&one) || failing[one][member])
                })
                .collect();
            match found.blame(one) {
                None => prop_assert!(!sick(one)),
                Some(blame) => {
                    prop_assert_eq!(blame.count, because.len());
                    prop_assert_eq!(&blame.roots[..], &because[..because.len().min(causes::MOST_NAMED)]);
                }
            }
        }
    }

    #[test]
    fn the_radius_is_everybody_who_reaches_it(world in worlds()) {
        let snapshot = world.graph().snapshot();
        let len = snapshot.nodes().len();
        let reach = reaches(&snapshot, |_| true);
        let everybody: Vec<usize> = (0..len).collect();
        for &place in &everybody {
            let hurt = radius::of(&snapshot, place);
            let found: BTreeSet<usize> = hurt.iter().map(|one| one.place).collect();
            let expected: BTreeSet<usize> =
                (0..len).filter(|&one| one != place && reach[one][place]).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(found.len(), hurt.len());
            for one in &hurt {
                let path = radius::path(&hurt, one.place);
                prop_assert_eq!(path.len(), one.distance + 1);
                prop_assert!(path.windows(2).all(|step| snapshot.leans_on(step[0]).contains(&step[1])));
                prop_assert_eq!((path[0], path[one.distance]), (one.place, place));
                // No shorter way: whoever is next is not nearer than one step.
                let nearest = snapshot.leans_on(one.place).iter()
                    .filter_map(|next| if *next == place { Some(0) } else {
                        hurt.iter().find(|other| other.place == *next).map(|other| other.distance)
                    })
                    .min();
                prop_assert_eq!(nearest, Some(one.distance - 1));
            }
        }
    }
}
