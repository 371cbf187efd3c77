//! The same told in another way: by what the tables say now, and by going through every change there is.

use std::collections::BTreeMap;

use mainstay_base::{Id, Timestamp};
use mainstay_store::Row;

use crate::house::House;

impl House {
    /// How everything is, as the tables say.
    pub(crate) async fn live(&self) -> Vec<String> {
        let services = "SELECT s.number, s.id, s.name, st.status, st.status_since, st.stale_since
            FROM services AS s JOIN service_states AS st ON st.service_no = s.number WHERE s.removed_at IS NULL";
        let dependencies =
            "SELECT d.number, d.id, d.service_no, d.name, d.canonical_name, d.status,
              d.status_since, d.missing_since, l.id AS linked
            FROM dependencies AS d JOIN services AS s ON s.number = d.service_no
            LEFT JOIN services AS l ON l.number = d.linked_service_no
            WHERE s.removed_at IS NULL AND d.removed_at IS NULL";
        let mut all: Vec<_> = self.rows(services).await.iter().map(service).collect();
        all.extend(self.rows(dependencies).await.iter().map(dependency));
        all.sort();
        all
    }

    /// How everything was, by every change that there is up to then.
    pub(crate) async fn naive(&self, at: Timestamp) -> Vec<String> {
        let sql = format!(
            "SELECT c.kind, c.at, c.service_no, c.dependency_no, c.after, s.id AS service_id,
               d.id AS dependency_id, d.name AS dependency_name FROM changes AS c
             LEFT JOIN services AS s ON s.number = c.service_no
             LEFT JOIN dependencies AS d ON d.number = c.dependency_no
             WHERE c.at <= {} ORDER BY c.number",
            at.as_millis()
        );
        let mut world = World::default();
        for row in self.rows(&sql).await {
            world.hear(&row);
        }
        world.lines()
    }
}

impl House {
    /// How long a service was healthy, degraded, down and unknown, by going from change to change.
    pub(crate) async fn counted(&self, id: Id, from: Timestamp, to: Timestamp) -> [i64; 4] {
        let born = format!("SELECT created_at AS v FROM services WHERE id = '{id}'");
        let born = self.number(&born).await;
        let sql = format!(
            "SELECT number, at, after FROM changes WHERE kind = 'service'
             AND service_no = (SELECT number FROM services WHERE id = '{id}') ORDER BY number"
        );
        let rows = self.rows(&sql).await;
        let rows: Vec<(i64, String)> =
            rows.iter().map(|row| (row.get("at").unwrap(), text(row, "after"))).collect();
        let (from, to) = (from.as_millis().max(born), to.as_millis());
        let mut cuts: Vec<_> = rows.iter().map(|(at, _)| (*at).clamp(from, to)).collect();
        cuts.extend([from, to]);
        cuts.sort_unstable();
        let mut sums = [0; 4];
        for pair in cuts.windows(2) {
            let holds = rows.iter().rfind(|(at, _)| *at <= pair[0]);
            let status = holds.map_or("unknown", |(_, status)| status.as_str());
            let all = ["healthy", "degraded", "down", "unknown"];
            sums[all.iter().position(|name| *name == status).unwrap()] += pair[1] - pair[0];
        }
        sums
    }
}

fn text(row: &Row, column: &str) -> String {
    row.get(column).unwrap()
}

fn service(row: &Row) -> String {
    let number: i64 = row.get("number").unwrap();
    let since: i64 = row.get("status_since").unwrap();
    let stale: Option<i64> = row.get("stale_since").unwrap();
    let (id, name, status) = (text(row, "id"), text(row, "name"), text(row, "status"));
    format!("service {number} {id} {name} {status} {since} {stale:?}")
}

fn dependency(row: &Row) -> String {
    let number: i64 = row.get("number").unwrap();
    let service_no: i64 = row.get("service_no").unwrap();
    let since: i64 = row.get("status_since").unwrap();
    let missing: Option<i64> = row.get("missing_since").unwrap();
    let linked: Option<String> = row.get("linked").unwrap();
    let [id, name, canonical, status] =
        ["id", "name", "canonical_name", "status"].map(|column| text(row, column));
    format!(
        "dependency {number} {id} {service_no} {name} {canonical} {status} {since} {missing:?} {linked:?}"
    )
}

/// Everything as plain texts.
#[derive(Default)]
struct World {
    services: BTreeMap<i64, BTreeMap<&'static str, String>>,
    dependencies: BTreeMap<i64, BTreeMap<&'static str, String>>,
}

impl World {
    fn hear(&mut self, row: &Row) {
        let kind = text(row, "kind");
        let at: i64 = row.get("at").unwrap();
        let service_no: i64 = row.get("service_no").unwrap();
        let dependency_no: Option<i64> = row.get("dependency_no").unwrap();
        let after: Option<String> = row.get("after").unwrap();
        let value = after.clone().unwrap_or_default();
        let thing = match dependency_no {
            Some(number) => self.dependencies.entry(number).or_default(),
            None => self.services.entry(service_no).or_default(),
        };
        let since = |is: bool| is.then_some(at).map(|at: i64| at.to_string()).unwrap_or_default();
        match (kind.as_str(), dependency_no) {
            ("added", None) => {
                thing.insert("id", text(row, "service_id"));
                thing.insert("name", value);
                thing.insert("status", "unknown".to_owned());
                thing.insert("since", at.to_string());
            }
            ("added", Some(_)) => {
                thing.insert("id", text(row, "dependency_id"));
                thing.insert("name", text(row, "dependency_name"));
                thing.insert("service", service_no.to_string());
                thing.insert("status", value);
                thing.insert("since", at.to_string());
            }
            ("service" | "dependency", _) => {
                thing.insert("status", value);
                thing.insert("since", at.to_string());
            }
            ("stale", _) => drop(thing.insert("stale", since(value == "stale"))),
            ("missing", _) => {
                thing.insert("missing", since(value == "missing"));
                thing.remove("removed");
            }
            ("alias", _) => drop(thing.insert("canonical", value)),
            ("link", _) => drop(thing.insert("link", value)),
            ("renamed", _) => drop(thing.insert("name", value)),
            ("removed", _) => drop(thing.insert("removed", at.to_string())),
            other => panic!("{other:?}"),
        }
    }

    fn lines(&self) -> Vec<String> {
        // What is dated before it was there says nothing.
        let there =
            |one: &BTreeMap<&str, String>| one.contains_key("id") && !one.contains_key("removed");
        let optional = |one: &BTreeMap<&str, String>, key| {
            one.get(key).filter(|text| !text.is_empty()).cloned()
        };
        let number = |text: Option<String>| text.map(|text| text.parse::<i64>().unwrap());
        let services = self.services.iter().filter(|(_, one)| there(one)).map(|(no, one)| {
            let stale = number(optional(one, "stale"));
            format!(
                "service {no} {} {} {} {} {stale:?}",
                one["id"], one["name"], one["status"], one["since"]
            )
        });
        let open = self.dependencies.iter().filter(|(_, one)| {
            let service = || one["service"].parse::<i64>().unwrap();
            there(one) && self.services.get(&service()).is_some_and(there)
        });
        let dependencies = open.map(|(no, one)| {
            let (missing, link) = (number(optional(one, "missing")), optional(one, "link"));
            let canonical = optional(one, "canonical").unwrap_or_else(|| one["name"].clone());
            format!(
                "dependency {no} {} {} {} {canonical} {} {} {missing:?} {link:?}",
                one["id"], one["service"], one["name"], one["status"], one["since"]
            )
        });
        let mut all: Vec<_> = services.chain(dependencies).collect();
        all.sort();
        all
    }
}
