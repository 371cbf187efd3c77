//! What people change reaches the graph.

use mainstay_monitor::Patch;
use mainstay_monitor::aliases::{AliasName, AliasesError, CanonicalName};
use mainstay_monitor::graph::show;
use mainstay_monitor::services::ServicesError;
use mainstay_testkit::each_database;
use serde_json::json;

use crate::house::{House, down, up};

each_database! {
    async fn services_that_come_are_renamed_and_go_change_what_reports_mean(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        house.answers(&shop, &json!([up("PAYMENTS")])).await;
        house.until(&["(PAYMENTS) healthy", "Shop healthy", "Shop → (PAYMENTS) healthy"]).await;
        let payments = house.service("Payments").await;
        house.until(&["Payments unknown", "Shop healthy", "Shop → Payments healthy"]).await;
        let rename = |name: &str| Patch { name: Some(name.to_owned()), ..Patch::default() };
        let services = &house.services;
        let patched: Result<_, ServicesError> = house.events.write(async |tx, out| {
            services.update(tx, out, payments.id, rename("Billing")).await
        }).await;
        patched.unwrap();
        house.until(&["(PAYMENTS) healthy", "Billing unknown", "Shop healthy", "Shop → (PAYMENTS) healthy"]).await;
        let off = Patch { is_active: Some(false), ..Patch::default() };
        let patched: Result<_, ServicesError> = house.events.write(async |tx, out| {
            services.update(tx, out, shop.id, off).await
        }).await;
        patched.unwrap();
        house.until(&["(PAYMENTS) unknown", "Billing unknown", "Shop unknown", "Shop → (PAYMENTS) unknown"]).await;
        let deleted: Result<_, ServicesError> = house.events.write(async |tx, out| {
            services.delete(tx, out, shop.id).await
        }).await;
        deleted.unwrap();
        house.until(&["Billing unknown"]).await;
    }

    async fn aliases_and_links_change_what_reports_mean(database: &TestDatabase) {
        let house = House::new(database).await;
        let shop = house.service("Shop").await;
        let ledger = house.service("Ledger").await;
        house.answers(&shop, &json!([down("orders-db"), up("money")])).await;
        house.until(&["(money) healthy", "(orders-db) down", "Ledger unknown", "Shop degraded", "Shop → (money) healthy", "Shop → (orders-db) down"]).await;
        let (aliases, events) = (&house.aliases, &house.events);
        let made: Result<_, AliasesError> = events.write(async |tx, out| {
            let alias = AliasName::parse("orders-db").unwrap();
            aliases.create(tx, out, alias, CanonicalName::parse("Orders database").unwrap()).await
        }).await;
        made.unwrap();
        house.until(&["(Orders database) down", "(money) healthy", "Ledger unknown", "Shop degraded", "Shop → (Orders database) down", "Shop → (money) healthy"]).await;
        let money = house.dependency("money").await;
        for (to, lines) in [
            (Some(ledger.id), ["(Orders database) down", "Ledger unknown", "Shop degraded", "Shop → (Orders database) down", "Shop → Ledger healthy"].as_slice()),
            (None, &["(Orders database) down", "(money) healthy", "Ledger unknown", "Shop degraded", "Shop → (Orders database) down", "Shop → (money) healthy"]),
        ] {
            let linked: Result<_, AliasesError> =
                events.write(async |tx, out| aliases.link(tx, out, money, to).await).await;
            linked.unwrap();
            house.until(lines).await;
        }
    }

    async fn links_that_close_a_circle_are_one_cycle_and_one_root_cause(database: &TestDatabase) {
        let house = House::new(database).await;
        let (shop, mill) = (house.service("Shop").await, house.service("Mill").await);
        house.answers(&shop, &json!([down("flour")])).await;
        house.answers(&mill, &json!([down("orders")])).await;
        house.until(&["(flour) down", "(orders) down", "Mill degraded", "Mill → (orders) down", "Shop degraded", "Shop → (flour) down"]).await;
        let (aliases, events) = (&house.aliases, &house.events);
        for (name, to) in [("flour", &mill), ("orders", &shop)] {
            let dependency = house.dependency(name).await;
            let linked: Result<_, AliasesError> =
                events.write(async |tx, out| aliases.link(tx, out, dependency, Some(to.id)).await).await;
            linked.unwrap();
        }
        house.until(&["Mill degraded", "Mill → Shop down", "Shop degraded", "Shop → Mill down"]).await;
        let shown = show::whole(&house.graphs.picture().await.unwrap());
        let counts: Vec<usize> = shown.cycles.iter().map(|cycle| cycle.node_count).collect();
        assert_eq!(counts, [2]);
        let causes: Vec<_> = shown.root_causes.iter().map(|cause| (cause.node_count, cause.hurts)).collect();
        assert_eq!(causes, [(2, 0)]);
    }
}
