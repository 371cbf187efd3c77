//! Which external thing may be a service.

use std::sync::Arc;

use mainstay_graph::Status::Healthy;
use mainstay_graph::suggest::{self, Clues, Dismissed, MOST_SUGGESTIONS};
use mainstay_graph::{Change, Dependency, Graph, Reason, Service, Suggestion};

use crate::house::{dependency, graph, service};

fn told(graph: &Graph) -> Vec<(String, String, u32)> {
    let found = suggest::find(&Clues::of(graph), &Dismissed::new());
    found.iter().map(|one| (one.key.to_string(), one.service_name.to_string(), one.score)).collect()
}

#[test]
fn names_are_compared_without_words_that_say_nothing() {
    for (thing, name, expected) in [
        ("payments-api", "Payments", Some(90)),
        ("PAYMENTS (prod)", "payments service", Some(90)),
        ("orderservice", "Order-Service", Some(95)),
        ("payments gateway", "Payments", Some(52)),
        ("payments", "Payments of the moon", None),
        ("postgres", "Payments", None),
        ("api", "Payments API", None),
        ("api", "The API", Some(52)),
        ("***", "---", None),
    ] {
        let graph = graph(&[("Asker", Healthy, &[(thing, Healthy)]), (name, Healthy, &[])]);
        let found = told(&graph);
        assert_eq!(found.first().map(|one| one.2), expected, "{thing} {name} {found:?}");
    }
}

fn with_host(graph: &mut Graph, number: i64, name: &str, host: &str) {
    let service = Service { host: Some(host.into()), ..service(number, name, Healthy) };
    graph.apply(Change::Service(service));
}

fn that_names(graph: &mut Graph, name: &str, host: &str) {
    let hosts = [Arc::from(host)].into();
    let dependency = Dependency { hosts, ..dependency(77, name, Healthy) };
    graph.apply(Change::Dependency { service: 1, dependency });
}

#[test]
fn a_host_that_is_named_is_a_reason_and_with_the_name_a_better_one() {
    let mut graph = graph(&[("Asker", Healthy, &[])]);
    with_host(&mut graph, 2, "Ledger", "ledger.example.org");
    that_names(&mut graph, "money", "ledger.example.org");
    let found = suggest::find(&Clues::of(&graph), &Dismissed::new());
    let reason = Reason::SameHost("ledger.example.org".into());
    assert!(
        matches!(found.as_slice(), [Suggestion { score: 85, reasons, .. }] if *reasons == [reason.clone()])
    );
    that_names(&mut graph, "ledger-svc", "ledger.example.org");
    let found = suggest::find(&Clues::of(&graph), &Dismissed::new());
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.score, one.reasons.as_slice()), (99, &[Reason::SameName, reason][..]));
}

#[test]
fn a_host_of_many_and_the_own_machine_tell_nothing() {
    let mut graph = graph(&[("Asker", Healthy, &[])]);
    for number in 2..6 {
        with_host(&mut graph, number, &format!("Shared {number}"), "gateway.example.org");
    }
    with_host(&mut graph, 6, "Own", "localhost");
    that_names(&mut graph, "thing", "gateway.example.org");
    assert!(told(&graph).is_empty());
    that_names(&mut graph, "thing", "localhost");
    assert!(told(&graph).is_empty());
}

#[test]
fn what_was_dismissed_and_who_reports_it_itself_is_not_suggested() {
    let graph = graph(&[
        ("Asker", Healthy, &[("ledger api", Healthy)]),
        ("Ledger", Healthy, &[("ledger-api", Healthy)]),
    ]);
    assert_eq!(told(&graph), [("ledger api".to_owned(), "Ledger".to_owned(), 90)]);
    let dismissed = Dismissed::from([("ledger api".into(), 2)]);
    assert!(suggest::find(&Clues::of(&graph), &dismissed).is_empty());
}

#[test]
fn suggestions_are_bounded_and_the_same_each_time() {
    let names: Vec<String> = (0..900).map(|n| format!("Thing{n}")).collect();
    let mut graph = Graph::default();
    for (number, name) in (1..).zip(&names) {
        graph.apply(Change::Service(service(number, name, Healthy)));
        let thing = format!("thing{}-svc", (number + 5) % 900);
        let dependency = dependency(number, &thing, Healthy);
        graph.apply(Change::Dependency { service: number, dependency });
    }
    let found = told(&graph);
    assert_eq!(found.len(), MOST_SUGGESTIONS);
    assert_eq!(found, told(&graph));
}
