//! Whatever changes something is written into the audit log.

use std::sync::Arc;
use std::time::Duration;

use mainstay_accounts::{AuditFilter, PageAsk, Role, Scope, TokenAsk};
use mainstay_jobs::{Kind, NewJob};
use mainstay_testkit::FakeClock;
use serde_json::{Value, json};

use super::access::operations;
use super::files;
use super::fleet;
use super::house::{House, Plan};
use super::journeys;
use super::people::{PASSWORD, Person, ROOT};
use super::raw::{Answer, get, post_json};

/// What is sent to look at something.
const CHANGES_NOTHING: [(&str, &str); 3] = [
    ("POST", "/api/invites/look"),
    ("POST", "/api/services/test-schema"),
    ("POST", "/api/journeys/check"),
];

struct Scene {
    house: House,
    clock: Arc<FakeClock>,
}

impl Scene {
    async fn new() -> Self {
        let clock = Arc::new(FakeClock::new());
        let shared = Arc::clone(&clock);
        let house = House::build(Plan { clock: shared, ..Plan::default() }).await;
        Self { house, clock }
    }

    async fn lines(&self) -> Vec<String> {
        let ask = PageAsk { after: None, limit: 200 };
        let part = self.house.accounts.audit_log(&AuditFilter::default(), ask).await.unwrap();
        part.items.into_iter().map(|line| line.action).collect()
    }

    async fn post(&self, target: &str, body: &Value) -> Answer {
        post_json(self.house.address, target, &body.to_string()).await
    }

    /// Somebody else who is signed in.
    async fn other(&self, admin: &Person, email: &str) -> Person {
        self.house.user(admin, email, Role::Viewer).await
    }

    /// An admin's call that succeeds, prepared by what it needs. A new route needs its own line.
    async fn succeed(&self, admin: &Person, method: &str, path: &str) -> Answer {
        let credentials = json!({"email": ROOT, "password": PASSWORD});
        let send =
            async |target: &str, body: Value| admin.send(method, target, &body.to_string()).await;
        match (method, path) {
            ("POST", "/api/auth/login") => self.post(path, &credentials).await,
            ("POST", "/api/auth/enter") => {
                let token = self.house.accounts.entry_token(&ROOT.parse().unwrap()).await.unwrap();
                self.post(path, &json!({"token": token.reveal()})).await
            }
            ("POST", "/api/auth/logout") => {
                let leaving = self.other(admin, "leaving@example.com").await;
                leaving.send("POST", path, "").await
            }
            ("POST", "/api/invites/accept") => {
                let token = self.house.invite(admin, "new@example.com", Role::Editor).await;
                self.post(path, &json!({"token": token, "password": PASSWORD})).await
            }
            ("POST", "/api/access-requests") => {
                self.post(path, &self.form("stranger@example.com").await).await
            }
            ("DELETE", "/api/account/sessions") => {
                assert_eq!(self.post("/api/auth/login", &credentials).await.status, 200);
                send(path, json!({})).await
            }
            ("DELETE", "/api/account/sessions/{id}") => {
                let item = self.post("/api/auth/login", &credentials).await;
                assert_eq!(item.status, 200);
                let sessions = admin.get("/api/account/sessions").await.json();
                let items = sessions["items"].as_array().unwrap().clone();
                let other = items.iter().find(|item| item["current"] == false).unwrap();
                send(&with_id(path, &other["id"]), json!({})).await
            }
            ("POST", "/api/account/password") => {
                let new = "another password, longer";
                send(path, json!({"current_password": PASSWORD, "new_password": new})).await
            }
            ("POST", "/api/account/tokens") => {
                send(path, json!({"name": "deploy", "scope": "read"})).await
            }
            ("DELETE", "/api/account/tokens/{id}") => {
                let ask = TokenAsk { name: "old".to_owned(), scope: Scope::Read, lives: None };
                let made = self.house.accounts.create_token(&admin.caller, ask, Default::default());
                let id = json!(made.await.unwrap().1.id);
                send(&with_id(path, &id), json!({})).await
            }
            ("PATCH", "/api/admin/users/{id}") => {
                let other = self.other(admin, "rising@example.com").await;
                send(&with_id(path, &json!(other.id())), json!({"role": "editor"})).await
            }
            ("POST", "/api/admin/invites") => send(path, json!({"email": "a@example.com"})).await,
            ("DELETE", "/api/admin/invites/{id}") => {
                let body = json!({"email": "b@example.com"}).to_string();
                let made = admin.send("POST", "/api/admin/invites", &body).await.json();
                send(&with_id(path, &made["item"]["id"]), json!({})).await
            }
            ("PATCH", "/api/admin/access-requests/{id}") => {
                let asked =
                    self.post("/api/access-requests", &self.form("asking@example.com").await).await;
                assert_eq!(asked.status, 202);
                let listed = admin.get("/api/admin/access-requests").await.json();
                let id = &listed["items"][0]["id"];
                send(&with_id(path, id), json!({"status": "contacted"})).await
            }
            ("POST", "/api/admin/jobs/{id}/cancel") => {
                send(&with_id(path, &self.job().await), json!({})).await
            }
            ("POST", "/api/admin/jobs/{id}/retry") => {
                let id = self.job().await;
                let cancelled = format!("/api/admin/jobs/{}/cancel", id.as_str().unwrap());
                assert_eq!(send(&cancelled, json!({})).await.status, 200);
                send(&with_id(path, &id), json!({})).await
            }
            ("POST", "/api/admin/jobs/kinds/{kind}/pause")
            | ("POST", "/api/admin/jobs/kinds/{kind}/resume") => {
                send(&path.replace("{kind}", "mail"), json!({})).await
            }
            ("POST", "/api/services") => {
                let endpoint = "https://orders.example.org/health";
                send(path, json!({"name": "Orders", "health_endpoint": endpoint})).await
            }
            ("POST", "/api/services/apply") => {
                let service = json!({"name": "Orders", "health_endpoint": "https://a.example/"});
                let document = json!({"version": 1, "services": [service]});
                send(path, json!({"document": document})).await
            }
            ("PATCH", "/api/services/{id}") => {
                let id = json!(self.house.service("Orders").await);
                send(&with_id(path, &id), json!({"team": "Shop"})).await
            }
            ("DELETE", "/api/services/{id}") | ("POST", "/api/services/{id}/poll") => {
                let id = json!(self.house.service("Orders").await);
                send(&with_id(path, &id), json!({})).await
            }
            ("POST", "/api/dependencies/{id}/link") => {
                let (_, id) = self.house.dependency("Shop", "orders").await;
                let to = self.house.service("Orders").await;
                send(&with_id(path, &json!(id)), json!({"service_id": to})).await
            }
            ("DELETE", "/api/dependencies/{id}/link") => {
                let (_, id) = self.house.dependency("Shop", "orders").await;
                send(&with_id(path, &json!(id)), json!({})).await
            }
            ("POST", "/api/aliases") => {
                send(path, json!({"alias": "db", "canonical_name": "Database"})).await
            }
            ("PATCH", "/api/aliases/{id}") => {
                let id = json!(self.house.alias("db", "Database").await);
                send(&with_id(path, &id), json!({"canonical_name": "Datastore"})).await
            }
            ("DELETE", "/api/aliases/{id}") => {
                let id = json!(self.house.alias("db", "Database").await);
                send(&with_id(path, &id), json!({})).await
            }
            ("POST", "/api/journeys") => send(path, json!({"source": journeys::GOOD})).await,
            ("PATCH" | "DELETE", "/api/journeys/{id}") | ("POST", "/api/journeys/{id}/run") => {
                let new = json!({"source": journeys::GOOD}).to_string();
                let made = admin.send("POST", "/api/journeys", &new).await.json();
                send(&with_id(path, &made["id"]), json!({})).await
            }
            ("POST", "/api/runs/{id}/cancel") => {
                let new = json!({"source": journeys::GOOD}).to_string();
                let made = admin.send("POST", "/api/journeys", &new).await.json();
                let run = with_id("/api/journeys/{id}/run", &made["id"]);
                let run = admin.send("POST", &run, "{}").await.json();
                send(&with_id(path, &run["id"]), json!({})).await
            }
            ("POST", "/api/graph/suggestions/confirm" | "/api/graph/suggestions/dismiss") => {
                self.house.dependency("Shop", "orders-api").await;
                let to = self.house.service("Orders").await;
                send(path, json!({"key": "orders-api", "service_id": to})).await
            }
            ("POST", "/api/files/upload") => {
                let body =
                    files::form(&[files::part("file", Some("call.txt"), "Ada: It is down.")]);
                files::send(&self.house, &admin.cookie(), &body).await
            }
            ("DELETE", "/api/files/{id}") | ("POST", "/api/files/{id}/shares") => {
                let id = json!(files::upload(&self.house, admin, "call.txt").await);
                send(&with_id(path, &id), json!({})).await
            }
            ("POST", "/api/files/{id}/retry") => {
                let id = json!(files::upload(&self.house, admin, "call.txt").await);
                let jobs = admin.get("/api/admin/jobs?kind=report").await.json();
                let job = jobs["items"][0]["id"].as_str().unwrap();
                let cancel = format!("/api/admin/jobs/{job}/cancel");
                assert_eq!(send(&cancel, json!({})).await.status, 200);
                send(&with_id(path, &id), json!({})).await
            }
            ("DELETE", "/api/files/{id}/shares/{share}") => {
                let id = files::upload(&self.house, admin, "call.txt").await;
                let shares = format!("/api/files/{id}/shares");
                let made = admin.send("POST", &shares, "{}").await.json();
                let share = made["item"]["id"].as_str().unwrap();
                send(&format!("{shares}/{share}"), json!({})).await
            }
            (method, path) if path.starts_with("/api/workers") || path.starts_with("/api/nets") => {
                fleet::succeed(&self.house, admin, method, path).await
            }
            other => panic!("{other:?} is new: say here how it succeeds"),
        }
    }

    /// The id of a job that waits.
    async fn job(&self) -> Value {
        let new = NewJob::new(Kind::new("mail").unwrap(), json!({}));
        let House { events, jobs, .. } = &self.house;
        let queued = events.write(async |tx, _| jobs.enqueue(tx, new).await);
        json!(queued.await.unwrap().id)
    }

    /// A form that was loaded long enough ago.
    async fn form(&self, email: &str) -> Value {
        let loaded = get(self.house.address, "/api/access-requests/form").await.json();
        self.clock.advance(Duration::from_secs(5));
        json!({"email": email, "client_ts": loaded["client_ts"]})
    }
}

fn with_id(path: &str, id: &Value) -> String {
    path.replace("{id}", id.as_str().unwrap())
}

#[tokio::test]
async fn every_route_that_changes_something_writes_down_who_did_it() {
    let scene = Scene::new().await;
    let token = scene.house.accounts.setup_token().await.unwrap().unwrap().reveal();
    let given = json!({"token": token, "email": ROOT, "password": PASSWORD});
    let made = scene.post("/api/auth/setup", &given).await;
    assert_eq!((made.status, scene.lines().await), (200, vec!["user.set_up".to_owned()]));

    let changing = operations().into_iter().filter(|(method, path)| {
        method != "GET"
            && path != "/api/auth/setup"
            && !CHANGES_NOTHING.contains(&(method.as_str(), path.as_str()))
    });
    for (method, path) in changing {
        let scene = Scene::new().await;
        let admin = scene.house.admin().await;
        let answer = scene.succeed(&admin, &method, &path).await;
        assert!(answer.status < 300, "{method} {path}: {}", answer.head);
        // What prepares a call writes lines too; the call's own carries its request's id.
        let id = answer.header("x-request-id").unwrap();
        let ask = PageAsk { after: None, limit: 200 };
        let all = scene.house.accounts.audit_log(&AuditFilter::default(), ask).await.unwrap();
        let own: Vec<_> =
            all.items.iter().filter(|line| line.request_id.as_deref() == Some(id)).collect();
        assert_eq!(own.len(), 1, "{method} {path}: {:?}", scene.lines().await);
        assert_eq!(own[0].address.as_deref(), Some("127.0.0.1"), "{method} {path}");
        let expected = if path == "/api/access-requests" { "public" } else { "user" };
        assert_eq!(own[0].actor.kind, expected, "{method} {path}");
    }
}

#[tokio::test]
async fn what_only_looks_writes_nothing() {
    let scene = Scene::new().await;
    let admin = scene.house.admin().await;
    let token = scene.house.invite(&admin, "new@example.com", Role::Viewer).await;
    let before = scene.lines().await;
    let looked = scene.post("/api/invites/look", &json!({"token": token})).await;
    assert_eq!(looked.status, 200);
    for (method, path) in operations() {
        // A stream would go on for ever.
        if method == "GET" && path != "/api/events" {
            assert!(admin.get(&path).await.status < 500, "{path}");
        }
    }
    assert_eq!(scene.lines().await, before);
}
