//! Random graphs against references that are too simple to be wrong.

use std::collections::{BTreeMap, BTreeSet};

use mainstay_graph::change::compared;
use mainstay_graph::suggest::Clues;
use mainstay_graph::{
    Change, Dependency, Graph, Key, Places, Service, Snapshot, Status, components, layout,
};
use proptest::prelude::*;

use crate::house::{arrows, at, dependency, service};

const NAMES: [&str; 6] = ["a", " A", "b", "B ", "c", "db"];

fn statuses() -> impl Strategy<Value = Status> {
    prop::sample::select(Status::ALL.to_vec())
}

fn moments() -> impl Strategy<Value = Option<i64>> {
    prop::option::of(0..50_i64)
}

fn services() -> impl Strategy<Value = Service> {
    (1..6_i64, 0..NAMES.len(), statuses(), moments()).prop_map(|(number, name, status, stale)| {
        Service { stale_since: stale.map(at), ..service(number, NAMES[name], status) }
    })
}

fn dependencies() -> impl Strategy<Value = Dependency> {
    (1..5_i64, 0..NAMES.len(), statuses(), moments(), prop::option::of(1..7_i64), 0..50_i64)
        .prop_map(|(number, name, status, missing, linked, since)| Dependency {
            missing_since: missing.map(at),
            since: at(since),
            linked,
            ..dependency(number, NAMES[name], status)
        })
}

fn changes() -> impl Strategy<Value = Change> {
    let number = || 1..6_i64;
    let many = prop::collection::btree_map(1..5_i64, dependencies(), 0..4).prop_map(|map| {
        map.into_iter().map(|(number, one)| Dependency { number, ..one }).collect::<Vec<_>>()
    });
    prop_oneof![
        services().prop_map(Change::Service),
        number().prop_map(|service| Change::Removed { service }),
        (number(), statuses(), 0..50_i64).prop_map(|(service, status, since)| Change::Status {
            service,
            status,
            since: at(since)
        }),
        (number(), moments())
            .prop_map(|(service, since)| Change::Stale { service, since: since.map(at) }),
        (number(), many)
            .prop_map(|(service, dependencies)| Change::Dependencies { service, dependencies }),
        (number(), dependencies())
            .prop_map(|(service, dependency)| Change::Dependency { service, dependency }),
        (number(), 1..5_i64)
            .prop_map(|(service, dependency)| Change::Forgotten { service, dependency }),
    ]
}

/// What was told, without anything that follows from it.
type Model = BTreeMap<i64, (Service, BTreeMap<i64, Dependency>)>;

fn tell(model: &mut Model, change: Change) {
    match change {
        Change::Service(service) => {
            let number = service.number;
            let known = model.remove(&number).map(|(_, known)| known).unwrap_or_default();
            model.insert(number, (service, known));
        }
        Change::Removed { service } => drop(model.remove(&service)),
        Change::Status { service, status, since } => {
            if let Some((known, _)) = model.get_mut(&service) {
                let failing = known.fails_since().unwrap_or(since);
                known.failing_since = status.is_unhealthy().then_some(failing);
                (known.status, known.since) = (status, since);
            }
        }
        Change::Stale { service, since } => {
            if let Some((known, _)) = model.get_mut(&service) {
                known.stale_since = since;
            }
        }
        Change::Dependencies { service, dependencies } => {
            if let Some((_, known)) = model.get_mut(&service) {
                *known = dependencies.into_iter().map(|one| (one.number, one)).collect();
            }
        }
        Change::Dependency { service, dependency } => {
            if let Some((_, known)) = model.get_mut(&service) {
                known.insert(dependency.number, dependency);
            }
        }
        Change::Forgotten { service, dependency } => {
            if let Some((_, known)) = model.get_mut(&service) {
                known.remove(&dependency);
            }
        }
    }
}

fn rebuilt(model: &Model) -> Graph {
    let mut graph = Graph::default();
    for (service, dependencies) in model.values() {
        graph.apply(Change::Service(service.clone()));
        let dependencies = dependencies.values().cloned().collect();
        graph.apply(Change::Dependencies { service: service.number, dependencies });
    }
    graph
}

/// The edges by the rule, without any index: who, what, how, how many.
fn edges_by_rule(model: &Model) -> BTreeMap<(i64, Key), (Status, usize)> {
    let mut edges: BTreeMap<(i64, Key), (Status, usize)> = BTreeMap::new();
    for (&number, (service, dependencies)) in model {
        for one in dependencies.values() {
            let by_name = |key: &str| {
                model
                    .iter()
                    .find(|(_, (other, _))| &*compared(&other.name) == key)
                    .map(|(no, _)| *no)
            };
            let key = compared(&one.name);
            let linked = one.linked.filter(|linked| model.contains_key(linked));
            let target = match linked.or_else(|| by_name(&key)) {
                Some(itself) if itself == number => continue,
                Some(other) => Key::Service(other),
                None => Key::External(key),
            };
            let hidden = service.stale_since.is_some() || one.missing_since.is_some();
            let said = if hidden { Status::Unknown } else { one.status };
            let edge = edges.entry((number, target)).or_insert((said, 0));
            *edge = (edge.0.max(said), edge.1 + 1);
        }
    }
    edges
}

fn edges_of(snapshot: &Snapshot) -> BTreeMap<(i64, Key), (Status, usize)> {
    let number = |place: usize| match snapshot.node(place).unwrap().key {
        Key::Service(number) => number,
        Key::External(_) => panic!("a thing leans on nothing"),
    };
    let edges = snapshot.edges().iter();
    edges
        .map(|edge| {
            let to = snapshot.node(edge.to).unwrap().key.clone();
            ((number(edge.from), to), (edge.status, edge.count))
        })
        .collect()
}

fn graphs() -> impl Strategy<Value = (Vec<Status>, Vec<(usize, usize)>)> {
    (1..12_usize).prop_flat_map(|len| {
        let arrows = prop::collection::vec((0..len, 0..len), 0..24);
        (prop::collection::vec(statuses(), len), arrows)
    })
}

proptest! {
    #[test]
    fn small_changes_come_to_the_same_as_building_anew(
        changes in prop::collection::vec(changes(), 0..40),
    ) {
        let (mut graph, mut model) = (Graph::default(), Model::new());
        for change in changes {
            let (version, topology) = (graph.version(), graph.topology());
            let (before, told) = (graph.snapshot(), (graph.clues(), Clues::of(&graph)));
            graph.apply(change.clone());
            tell(&mut model, change);
            let after = graph.snapshot();
            if graph.version() == version {
                prop_assert_eq!(before.nodes(), after.nodes());
                prop_assert_eq!(before.edges(), after.edges());
            }
            let keys = |snapshot: &Snapshot| {
                let keys: Vec<_> = snapshot.nodes().iter().map(|node| node.key.clone()).collect();
                (keys, edges_of(snapshot).into_keys().collect::<Vec<_>>())
            };
            if graph.topology() == topology {
                prop_assert_eq!(keys(&before), keys(&after));
            }
            if graph.clues() == told.0 {
                prop_assert_eq!(Clues::of(&graph), told.1);
            }
        }
        let (now, anew) = (graph.snapshot(), rebuilt(&model).snapshot());
        prop_assert_eq!(now.nodes(), anew.nodes());
        prop_assert_eq!(now.edges(), anew.edges());
        prop_assert_eq!(edges_of(&now), edges_by_rule(&model));
        prop_assert_eq!((graph.nodes(), graph.edges()), (now.nodes().len(), now.edges().len()));
    }

    #[test]
    fn a_drawing_points_down_and_stays(
        (statuses, leans) in graphs(),
        more in prop::collection::vec((0..12_usize, any::<bool>()), 0..4),
        things in prop::collection::vec((0..12_usize, 0..3_usize), 0..6),
    ) {
        let mut graph = arrows(&statuses, &leans);
        for (number, (from, thing)) in (500..).zip(&things) {
            let service = i64::try_from(from % statuses.len()).unwrap() + 1;
            let dependency = dependency(number, &format!("thing {thing}"), Status::Healthy);
            graph.apply(Change::Dependency { service, dependency });
        }
        let first = graph.snapshot();
        let before = layout::place(&first, &Places::new());
        check(&first, &before)?;
        prop_assert_eq!(&layout::place(&first, &before), &before);

        // One more comes, with edges to and from others.
        let new = i64::try_from(statuses.len()).unwrap() + 1;
        graph.apply(Change::Service(service(new, "new", Status::Healthy)));
        for (number, (other, leans)) in (900..).zip(&more) {
            let other = i64::try_from(other % statuses.len()).unwrap() + 1;
            let (from, to) = if *leans { (new, format!("s{other}")) } else { (other, "new".to_owned()) };
            let dependency = dependency(number, &to, Status::Healthy);
            graph.apply(Change::Dependency { service: from, dependency });
        }
        let second = graph.snapshot();
        let after = layout::place(&second, &before);
        check(&second, &after)?;
        let components = components::find(&second);
        for (place, node) in second.nodes().iter().enumerate() {
            let Some(stood) = before.get(&node.key) else { continue };
            if after[&node.key] != *stood && before.len() * 2 >= second.nodes().len() {
                let pushed = second.leaned_on_by(place).iter().any(|&over| {
                    components.of(over) != components.of(place)
                        && after[&second.node(over).unwrap().key].y >= stood.y
                });
                prop_assert!(pushed, "{} moved without need", node.name);
            }
        }
    }
}

fn check(snapshot: &Snapshot, places: &Places) -> Result<(), TestCaseError> {
    prop_assert_eq!(places.len(), snapshot.nodes().len());
    let distinct: BTreeSet<_> = places.values().collect();
    prop_assert_eq!(distinct.len(), places.len(), "two stand on one place");
    let components = components::find(snapshot);
    for edge in snapshot.edges() {
        let y = |place: usize| places[&snapshot.node(place).unwrap().key].y;
        if components.of(edge.from) != components.of(edge.to) {
            prop_assert!(y(edge.from) < y(edge.to), "{:?} points up", edge);
        }
    }
    Ok(())
}
