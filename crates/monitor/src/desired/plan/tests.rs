//! Plans by hand, and the promise that an applied plan leaves nothing to do.

mod property;
mod stage;

use serde_json::{Value, json};

use stage::{Stage, link, service};

#[expect(clippy::needless_pass_by_value, reason = "they are written where they are used")]
fn document(services: Value, aliases: Value, links: Value) -> Value {
    json!({"version": 1, "services": services, "aliases": aliases, "links": links})
}

fn services(services: Value) -> Value {
    document(services, json!([]), json!([]))
}

#[test]
fn what_is_not_there_is_added_and_what_is_there_stays() {
    let stage = Stage::default().service("Orders").alias("db", "Database");
    let wanted = document(
        json!([service("Orders"), service("Billing")]),
        json!([
            {"alias": "db", "canonical_name": "Database"},
            {"alias": "cache", "canonical_name": "Cache"},
        ]),
        json!([]),
    );
    let plan = stage.plan(&wanted, false).unwrap();
    assert_eq!(
        stage::lines(&plan),
        ["+ service Billing", "+ alias cache canonical_name null → \"Cache\""]
    );
    assert_eq!((plan.view().unchanged.services, plan.view().unchanged.aliases), (1, 1));
    assert_eq!(plan.addresses().count(), 1, "only what is new is judged");
}

#[test]
fn what_a_document_leaves_out_of_a_service_gets_its_default() {
    let stage = Stage::default().drafted("Orders", |draft| {
        draft.team = Some("Shop".to_owned());
        draft.poll_interval_ms = Some(60_000);
        draft.is_active = Some(false);
    });
    let plan = stage.plan(&services(json!([service("Orders")])), false).unwrap();
    assert_eq!(
        stage::lines(&plan),
        [
            "~ service Orders team \"Shop\" → null, poll_interval_ms 60000 → 30000, is_active false → true"
        ]
    );
    assert_eq!(plan.addresses().count(), 0, "it is asked where it was asked");
}

#[test]
fn each_field_is_compared() {
    let config = json!({"root": "checks", "fields": {"name": "id", "healthy": "ok"}});
    for (field, value, says) in [
        ("name", json!("ORDERS"), "name \"Orders\" → \"ORDERS\""),
        ("team", json!("Shop"), "team null → \"Shop\""),
        (
            "health_endpoint",
            json!("http://b.example"),
            "health_endpoint \"http://a.example/\" → \"http://b.example/\"",
        ),
        ("format", json!("status"), "format \"proactive-deps\" → \"status\""),
        ("poll_interval_ms", json!(5000), "poll_interval_ms 30000 → 5000"),
        ("timeout_ms", json!(100), "timeout_ms 10000 → 100"),
        ("is_active", json!(false), "is_active true → false"),
    ] {
        let mut one = service("Orders");
        one[field] = value;
        let plan = Stage::default().service("Orders").plan(&services(json!([one])), false).unwrap();
        let [line] = &stage::lines(&plan)[..] else { panic!("{field}") };
        assert!(line.ends_with(says), "{line}");
        assert_eq!(plan.addresses().count(), usize::from(field == "health_endpoint"), "{field}");
    }
    let mut mapped = service("Orders");
    (mapped["format"], mapped["schema_config"]) = (json!("schema"), config);
    let plan = Stage::default().service("Orders").plan(&services(json!([mapped])), false).unwrap();
    let line = stage::lines(&plan).concat();
    assert!(line.contains("format") && line.contains("schema_config null → {"), "{line}");
}

#[test]
fn another_spelling_of_an_address_or_a_mapping_is_no_change() {
    let stage = Stage::default().service("Orders");
    let mut one = service("Orders");
    one["health_endpoint"] = json!("http://A.example:80#part");
    assert!(stage.plan(&services(json!([one])), true).unwrap().is_empty());
}

#[test]
fn only_pruning_removes_and_only_from_parts_that_name_something() {
    let stage = Stage::default()
        .service("Orders")
        .service("Shop")
        .alias("db", "Database")
        .dependency("Shop", "orders-api", Some("Orders"));
    let named = document(
        json!([service("Shop")]),
        json!([{"alias": "cache", "canonical_name": "Cache"}]),
        json!([]),
    );
    assert_eq!(stage::lines(&stage.plan(&named, false).unwrap()).len(), 1);
    assert_eq!(
        stage::lines(&stage.plan(&named, true).unwrap()),
        [
            "- service Orders links 1 → 0",
            "+ alias cache canonical_name null → \"Cache\"",
            "- alias db canonical_name \"Database\" → null",
        ]
    );
    assert!(stage.plan(&json!({"version": 1}), true).unwrap().is_empty());
}

#[test]
fn links_are_made_changed_and_pruned_by_the_names_of_services() {
    let stage = Stage::default()
        .service("Shop")
        .service("Orders")
        .service("Billing")
        .dependency("Shop", "a", None)
        .dependency("Shop", "b", Some("Orders"))
        .dependency("Shop", "c", Some("Orders"))
        .dependency("Shop", "d", Some("Orders"));
    let links = json!([
        link(" shop", "a", "ORDERS"),
        link("Shop", "b", "Billing"),
        link("Shop", "c", "orders")
    ]);
    let plan = stage.plan(&document(json!([]), json!([]), links), true).unwrap();
    assert_eq!(
        stage::lines(&plan),
        [
            "+ link Shop / a links_to null → \"Orders\"",
            "~ link Shop / b links_to \"Orders\" → \"Billing\"",
            "- link Shop / d links_to \"Orders\" → null",
        ]
    );
    assert_eq!(plan.view().unchanged.links, 1);
}

#[test]
fn a_link_of_what_nobody_reported_waits_and_one_to_a_new_service_does_not() {
    let stage = Stage::default().service("Shop").dependency("Shop", "orders-api", None);
    let links = json!([
        link("Shop", "orders-api", "Orders"),
        link("Shop", "Orders-API", "Orders"),
        link("Orders", "db", "Shop"),
    ]);
    let plan = stage.plan(&document(json!([service("Orders")]), json!([]), links), false).unwrap();
    assert_eq!(
        stage::lines(&plan),
        ["+ service Orders", "+ link Shop / orders-api links_to null → \"Orders\""]
    );
    let waiting: Vec<_> = plan.view().waiting.into_iter().map(|link| link.dependency).collect();
    assert_eq!(waiting, ["Orders-API", "db"]);
}

#[test]
fn a_link_to_nowhere_is_refused() {
    let stage = Stage::default().service("Shop").service("Orders");
    for (wanted, says) in [
        (services(json!([])), None),
        (
            document(json!([]), json!([]), json!([link("Shop", "a", "Ordrs")])),
            Some("`links_to` names \"Ordrs\", and there is no such service"),
        ),
        (
            document(json!([]), json!([]), json!([link("Shp", "a", "Orders")])),
            Some("`service` names \"Shp\""),
        ),
        (
            document(json!([service("Shop")]), json!([]), json!([link("Shop", "a", "Orders")])),
            Some("pruning removes"),
        ),
    ] {
        let told = stage.plan(&wanted, true).err();
        assert_eq!(told.is_some(), says.is_some(), "{told:?}");
        if let (Some(told), Some(says)) = (told, says) {
            assert!(told.starts_with("links[0] \"a\": ") && told.contains(says), "{told}");
        }
    }
}

#[test]
fn headers_are_compared_without_being_told() {
    let stage = Stage::default().drafted("Orders", |draft| {
        draft.headers =
            stage::headers(&[("X-Kept", "hunter1"), ("X-Same", "hunter2"), ("X-Old", "hunter3")]);
    });
    let mut one = service("Orders");
    one["headers"] = json!({"x-kept": null, "X-SAME": "hunter2", "X-New": "hunter4"});
    let plan = stage.plan(&services(json!([one.clone()])), false).unwrap();
    assert_eq!(
        stage::lines(&plan),
        ["~ service Orders headers.X-New null → \"set\", headers.X-Old \"set\" → null"]
    );
    one["headers"]["X-SAME"] = json!("hunter5");
    let plan = stage.plan(&services(json!([one])), false).unwrap();
    assert!(stage::lines(&plan).concat().contains("headers.X-SAME \"set\" → \"changed\""));
    assert!(!format!("{plan:?}{:?}", plan.view()).contains("hunter"));
}

#[test]
fn a_value_is_kept_only_where_there_is_one() {
    let mut one = service("Orders");
    one["headers"] = json!({"X-Key": null});
    let wanted = services(json!([one]));
    for stage in [Stage::default(), Stage::default().service("Orders")] {
        let told = stage.plan(&wanted, false).unwrap_err();
        assert!(told.starts_with("services[0] \"Orders\": the header \"X-Key\""), "{told}");
    }
}

#[test]
fn sealed_headers_are_kept_whole_or_replaced_whole() {
    let stage = Stage::default().service("Orders").seal("Orders", &["X-One", "X-Two"]);
    let plan = |headers: Value| {
        let mut one = service("Orders");
        one["headers"] = headers;
        stage.plan(&services(json!([one])), false).map(|plan| stage::lines(&plan).concat())
    };
    assert_eq!(plan(json!({"x-one": null, "X-Two": null})).unwrap(), "");
    let told = plan(json!({"X-One": null})).unwrap_err();
    assert!(told.contains("sealed under another secret"), "{told}");
    assert!(plan(json!({"X-One": null, "X-Three": "v"})).is_err());
    assert!(plan(json!({"X-Three": null})).unwrap_err().contains("none is stored"));
    assert!(plan(json!({"X-One": "v"})).unwrap().contains("headers.X-Two \"set\" → null"));
    assert!(plan(json!({})).unwrap().contains("headers.X-One \"set\" → null"));
}

#[test]
fn at_most_so_many_changes_are_applied_at_once() {
    let many = |count: usize| {
        let all: Vec<_> = (0..count).map(|n| service(&format!("s{n}"))).collect();
        services(json!(all))
    };
    let most = super::MAX_CHANGES;
    assert_eq!(Stage::default().plan(&many(most), false).unwrap().count(), most);
    let told = Stage::default().plan(&many(most + 1), false).unwrap_err();
    assert!(told.contains("2001 changes") && told.contains("split the file"), "{told}");
}

#[test]
fn links_that_go_with_a_service_are_no_changes_of_their_own() {
    let most = super::MAX_CHANGES;
    let mut stage = Stage::default().service("Orders").service("Shop").service("Old");
    for n in 0..=most {
        stage = stage.dependency("Shop", &format!("d{n}"), Some("Old"));
    }
    let services = json!([service("Orders"), service("Shop")]);
    // Whether links are pruned too or not.
    for links in [json!([]), json!([link("Shop", "d0", "Orders")])] {
        let plan = stage.plan(&document(services.clone(), json!([]), links.clone()), true).unwrap();
        let linked = links.as_array().unwrap().len();
        assert_eq!(plan.count(), 1 + linked);
        assert_eq!(
            stage::lines(&plan)[0],
            format!("- service Old links {} → 0", most + 1 - linked)
        );
    }
}
