//! Tables of what is told of changes.

use mainstay_base::Id;
use mainstay_graph::Status;

use super::*;
use crate::views::moments::around::NodeNow;

/// Writes changes down, each with a number of its own.
#[derive(Default)]
struct Book {
    changes: Vec<ActivityItem>,
}

fn id(name: &str) -> Id {
    let sum = name.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("019a8b3c-0000-7000-8000-{:012x}", sum & 0xffff_ffff_ffff).parse().unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_millis(second * 1_000)
}

impl Book {
    /// A service changes: "healthy down".
    fn service(mut self, second: i64, service: &str, turn: &str) -> Self {
        self.write(second, service, None, turn);
        self
    }

    /// A service says that something it leans on changes; `-` is what was not known of.
    fn says(mut self, second: i64, service: &str, thing: &str, turn: &str) -> Self {
        self.write(second, service, Some(thing), turn);
        self
    }

    fn write(&mut self, second: i64, service: &str, thing: Option<&str>, turn: &str) {
        let (previous, current) = turn.split_once(' ').unwrap();
        self.changes.push(ActivityItem {
            id: i64::try_from(self.changes.len()).unwrap() + 1,
            at: at(second),
            service_id: id(service),
            service_name: service.to_owned(),
            dependency_id: thing.map(|thing| id(&format!("{service} {thing}"))),
            dependency_name: thing.map(|thing| format!("{service}s-{thing}")),
            canonical_name: thing.map(str::to_owned),
            previous: (previous != "-").then(|| previous.to_owned()),
            current: Some(current.to_owned()),
        });
    }

    /// One line for each moment: when, what, its path, who followed and why.
    fn told(&self, around: &Around) -> Vec<String> {
        tell(&self.changes, around).iter().map(|told| line(&told.moment)).collect()
    }
}

fn line(moment: &Moment) -> String {
    let names: Vec<_> = moment.nodes.iter().map(|node| node.name.as_str()).collect();
    let word =
        |status: &Option<crate::report::DependencyStatus>| status.map_or("new", |one| one.name());
    let path: Vec<_> = moment.path.iter().map(word).collect();
    let mut line =
        format!("{} {} {}", moment.at.as_millis() / 1_000, names.join("+"), path.join(">"));
    if !moment.followers.is_empty() {
        line = format!("{line}: {}", moment.followers.join(","));
    }
    let because = moment.because.as_ref().map(|cause| format!(" because of {cause}"));
    format!("{line}{}", because.unwrap_or_default())
}

/// A node of the graph now.
fn now(name: &str, kind: GraphNodeKind, status: Status, leans_on: &[&str]) -> (String, NodeNow) {
    let key = compared(name);
    let id = match kind {
        GraphNodeKind::Service => id(name).to_string(),
        GraphNodeKind::External => external_id(&key),
    };
    let leans_on = leans_on.iter().map(|one| compared(one)).collect();
    let (name, said, because) = (name.to_owned(), Vec::new(), None);
    (key, NodeNow { id, kind, name, status, leans_on, said, because })
}

#[test]
fn what_many_report_is_one_moment_with_who_followed() {
    let book = Book::default()
        .says(0, "Catalog", "PostgreSQL main", "healthy degraded")
        .service(0, "Catalog", "healthy degraded")
        .says(3, "Ledger", "PostgreSQL main", "healthy degraded")
        .service(3, "Ledger", "healthy degraded")
        .says(16, "Catalog", "PostgreSQL main", "degraded down")
        .says(18, "Ledger", "PostgreSQL main", "degraded down")
        .says(20, "Payments", "Ledger", "healthy down")
        .service(20, "Payments", "healthy degraded")
        .service(25, "Payments", "degraded down");
    let expected = ["0 PostgreSQL main healthy>degraded>down: Catalog,Ledger,Payments"];
    assert_eq!(book.told(&Around::new()), expected);
}

#[test]
fn what_got_worse_and_what_got_better_are_two_moments_and_neither_rewrites_the_other() {
    let book = Book::default()
        .says(0, "Shop", "db", "healthy degraded")
        .service(0, "Shop", "healthy degraded")
        .says(20, "Shop", "db", "degraded down")
        .says(40, "Shop", "db", "down degraded")
        .says(55, "Shop", "db", "degraded healthy")
        .service(55, "Shop", "degraded healthy")
        .service(600, "Mail", "healthy down");
    assert_eq!(
        book.told(&Around::new()),
        [
            "600 Mail healthy>down",
            "40 db down>degraded>healthy: Shop",
            "0 db healthy>degraded>down: Shop",
        ]
    );
}

#[test]
fn a_moment_tells_when_it_began_and_when_it_came_to_be_what_it_was_in_the_end() {
    let settled = |book: Book| -> Vec<(i64, i64)> {
        let seconds = |at: Timestamp| at.as_millis() / 1_000;
        let told = tell(&book.changes, &Around::new());
        told.iter().map(|one| (seconds(one.moment.at), seconds(one.moment.settled_at))).collect()
    };
    let one = Book::default().service(3, "Mail", "healthy down");
    assert_eq!(settled(one), [(3, 3)]);
    let steps = Book::default()
        .says(0, "Shop", "db", "down degraded")
        .says(17, "Shop", "db", "degraded healthy")
        .service(19, "Shop", "degraded healthy");
    assert_eq!(settled(steps), [(0, 17)]);
    // The second who says the same does not make it later.
    let two =
        Book::default().says(0, "Shop", "db", "healthy down").says(9, "Mail", "db", "healthy down");
    assert_eq!(settled(two), [(0, 0)]);
}

#[test]
fn what_happens_later_to_the_same_is_another_moment() {
    let book = Book::default()
        .says(0, "Shop", "db", "healthy degraded")
        .says(300, "Shop", "db", "degraded down")
        .service(301, "Shop", "degraded down");
    let expected = ["300 db degraded>down: Shop", "0 db healthy>degraded"];
    assert_eq!(book.told(&Around::new()), expected);
}

#[test]
fn whoever_has_two_causes_follows_the_nearest_that_still_holds() {
    let fails = |book: Book| {
        book.says(0, "Ledger", "PostgreSQL", "healthy down")
            .service(0, "Ledger", "healthy degraded")
            .says(7, "Payouts", "Ledger", "healthy degraded")
            .service(7, "Payouts", "healthy degraded")
    };
    let bank = |book: Book| {
        book.says(50, "Payouts", "Harbour Bank", "healthy down").service(
            50,
            "Payouts",
            "healthy degraded",
        )
    };
    let over = fails(Book::default())
        .service(30, "Payouts", "degraded healthy")
        .service(35, "Ledger", "degraded healthy")
        .says(35, "Ledger", "PostgreSQL", "down healthy");
    assert_eq!(
        bank(over).told(&Around::new()),
        [
            "50 Harbour Bank healthy>down: Payouts",
            "35 PostgreSQL down>healthy: Payouts,Ledger",
            "0 PostgreSQL healthy>down: Ledger,Payouts",
        ]
    );
    // It was over for Payouts alone.
    let lasting = fails(Book::default()).service(30, "Payouts", "degraded healthy");
    let told = bank(lasting).told(&Around::new());
    assert_eq!(told[0], "50 Harbour Bank healthy>down: Payouts");
}

#[test]
fn who_tells_nothing_follows_what_it_leans_on_by_the_graph() {
    let book = Book::default().says(0, "Ledger", "PostgreSQL main", "healthy down").service(
        4,
        "Orders",
        "healthy down",
    );
    let orders = || now("Orders", GraphNodeKind::Service, Status::Down, &["PostgreSQL main"]);
    let around = Around::from([orders()]);
    assert_eq!(book.told(&around), ["0 PostgreSQL main healthy>down: Orders"]);

    // Of what failed long ago it is told as the cause.
    let alone = Book::default().service(4, "Orders", "healthy down");
    let (key, node) = orders();
    let around =
        Around::from([(key, NodeNow { because: Some("PostgreSQL main".to_owned()), ..node })]);
    assert_eq!(alone.told(&around), ["4 Orders healthy>down because of PostgreSQL main"]);
    let over = alone.service(90, "Orders", "down healthy");
    assert_eq!(over.told(&around), ["90 Orders down>healthy", "4 Orders healthy>down"]);
}

#[test]
fn what_fails_long_after_its_cause_names_it_while_that_lasts() {
    let fails = Book::default()
        .says(0, "Orders", "db", "healthy degraded")
        .service(0, "Orders", "healthy degraded")
        .says(300, "Orders", "db", "degraded down")
        .service(600, "Orders", "degraded down")
        .says(610, "Shop", "Orders", "healthy down")
        .service(610, "Shop", "healthy degraded")
        .service(900, "Shop", "degraded down");
    assert_eq!(
        fails.told(&Around::new()),
        [
            "900 Shop degraded>down because of db",
            "600 Orders degraded>down: Shop because of db",
            "300 db degraded>down",
            "0 db healthy>degraded: Orders",
        ]
    );
    let over = Book::default()
        .says(0, "Orders", "db", "healthy degraded")
        .says(300, "Orders", "db", "degraded down")
        .says(500, "Orders", "db", "down healthy")
        .service(600, "Orders", "healthy down");
    assert_eq!(over.told(&Around::new())[0], "600 Orders healthy>down");
}

#[test]
fn a_circle_that_leans_on_nothing_else_changed_together() {
    let circle = |book: Book| {
        book.says(0, "A", "B", "healthy down")
            .service(0, "A", "healthy degraded")
            .says(2, "B", "A", "healthy down")
            .service(2, "B", "healthy degraded")
    };
    let expected = ["0 A+B healthy>degraded"];
    assert_eq!(circle(Book::default()).told(&Around::new()), expected);
    let with_cause = circle(Book::default()).says(2, "B", "db", "healthy down");
    assert_eq!(with_cause.told(&Around::new()), ["2 db healthy>down: A,B"]);
}

#[test]
fn all_of_whom_nothing_was_known_are_one_moment() {
    let book = Book::default()
        .service(0, "Shop", "healthy unknown")
        .service(2, "Mail", "healthy unknown")
        .service(9, "Shop", "unknown healthy")
        .service(9, "Mail", "unknown healthy")
        .service(9, "Ledger", "unknown down");
    assert_eq!(
        book.told(&Around::new()),
        ["9 Ledger unknown>down", "9 Shop unknown>healthy: Mail", "0 Shop healthy>unknown: Mail",]
    );
}

#[test]
fn a_thing_is_what_all_say_of_it_together() {
    let (key, mut node) = now("db", GraphNodeKind::External, Status::Down, &[]);
    node.said = vec![(id("Old"), Status::Down), (id("Shop"), Status::Healthy)];
    let around = Around::from([(key, node)]);
    let book = Book::default().says(0, "Shop", "db", "healthy degraded").says(
        9,
        "Shop",
        "db",
        "degraded healthy",
    );
    assert_eq!(book.told(&around), Vec::<String>::new(), "another finds it down all the while");
    let two = Book::default()
        .says(0, "Shop", "db", "healthy down")
        .says(5, "Mail", "db", "- degraded")
        .says(9, "Shop", "db", "down healthy")
        .says(12, "Mail", "db", "degraded healthy");
    let expected = ["9 db down>degraded>healthy", "0 db healthy>down"];
    assert_eq!(two.told(&Around::new()), expected);
    let new = Book::default().says(0, "Shop", "db", "- down");
    assert_eq!(new.told(&Around::new()), ["0 db new>down"]);
}

#[test]
fn what_others_say_of_a_service_counts_while_its_own_polls_find_it_well() {
    let (key, node) = now("Ledger", GraphNodeKind::Service, Status::Healthy, &[]);
    let around = Around::from([(key, node)]);
    let wrong = Book::default().says(0, "Shop", "ledger", "healthy down");
    assert_eq!(wrong.told(&around), ["0 Ledger healthy>down"]);
    let right = Book::default()
        .service(0, "Ledger", "healthy degraded")
        .says(3, "Shop", "ledger", "healthy down")
        .says(200, "Shop", "ledger", "down degraded")
        .service(300, "Ledger", "degraded healthy")
        .says(303, "Shop", "ledger", "degraded healthy");
    let expected = ["300 Ledger degraded>healthy", "0 Ledger healthy>degraded"];
    assert_eq!(right.told(&around), expected);
}

#[test]
fn what_leads_to_a_node_names_it_as_the_graph_does() {
    let book = Book::default().says(0, "Shop", "Orders DB", "healthy down").service(
        500,
        "Shop",
        "healthy down",
    );
    let told = tell(&book.changes, &Around::new());
    let nodes: Vec<_> = told.iter().map(|one| one.moment.nodes[0].id.clone()).collect();
    assert_eq!(nodes, [id("Shop").to_string(), "external:orders db".to_owned()]);
}

#[test]
fn many_followers_are_counted_and_few_are_named() {
    let mut book = Book::default();
    for number in 0..30 {
        let name = format!("S{number:02}");
        book = book.says(number, &name, "db", "healthy down").service(
            number,
            &name,
            "healthy degraded",
        );
    }
    let told = tell(&book.changes, &Around::new());
    let [one] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((one.moment.followers.len(), one.moment.follower_count), (MOST_NAMED, 30));
    assert!(!one.is_whole(at(-60)) && one.is_whole(at(-61)));
}
