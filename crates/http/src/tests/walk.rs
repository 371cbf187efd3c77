//! Every route of the document, called by everybody there is.

use mainstay_accounts::{Role, Scope, Source, UserChange, UserStatus};

use super::access::operations;
use super::house::House;
use super::people::{Person, bearer};
use super::raw::{Answer, request};

const NOBODY: &str = "019a8b3c-0000-7000-8000-000000000000";
const JSON: &str = "Content-Type: application/json\r\n";

/// Whom each route is for, told a second time: a slip in the table of the surface shows here.
const EXPECTED: &[(&str, &str, &str)] = &[
    ("GET", "/healthz", "public"),
    ("GET", "/readyz", "public"),
    ("GET", "/api/openapi.json", "public"),
    ("GET", "/api/auth/setup", "public"),
    ("POST", "/api/auth/setup", "public"),
    ("POST", "/api/auth/enter", "public"),
    ("POST", "/api/auth/login", "public"),
    ("POST", "/api/auth/logout", "public"),
    ("GET", "/api/auth/me", "viewer"),
    ("POST", "/api/invites/look", "public"),
    ("POST", "/api/invites/accept", "public"),
    ("GET", "/api/access-requests/form", "public"),
    ("POST", "/api/access-requests", "public"),
    ("GET", "/api/system", "viewer"),
    ("GET", "/api/account/sessions", "viewer"),
    ("DELETE", "/api/account/sessions", "viewer in person"),
    ("DELETE", "/api/account/sessions/{id}", "viewer in person"),
    ("POST", "/api/account/password", "viewer in person"),
    ("GET", "/api/account/tokens", "viewer"),
    ("POST", "/api/account/tokens", "viewer in person"),
    ("DELETE", "/api/account/tokens/{id}", "viewer in person"),
    ("GET", "/api/admin/users", "admin"),
    ("PATCH", "/api/admin/users/{id}", "admin in person"),
    ("GET", "/api/admin/invites", "admin"),
    ("POST", "/api/admin/invites", "admin in person"),
    ("DELETE", "/api/admin/invites/{id}", "admin in person"),
    ("GET", "/api/admin/access-requests", "admin"),
    ("PATCH", "/api/admin/access-requests/{id}", "admin in person"),
    ("GET", "/api/admin/audit", "admin"),
    ("GET", "/api/admin/settings", "admin"),
    ("GET", "/api/admin/jobs", "admin"),
    ("GET", "/api/admin/jobs/stuck", "admin"),
    ("GET", "/api/admin/jobs/summary", "admin"),
    ("GET", "/api/admin/jobs/{id}", "admin"),
    ("POST", "/api/admin/jobs/{id}/retry", "admin in person"),
    ("POST", "/api/admin/jobs/{id}/cancel", "admin in person"),
    ("POST", "/api/admin/jobs/kinds/{kind}/pause", "admin in person"),
    ("POST", "/api/admin/jobs/kinds/{kind}/resume", "admin in person"),
    ("GET", "/api/services", "viewer"),
    ("POST", "/api/services", "editor"),
    ("GET", "/api/services/export", "viewer"),
    ("POST", "/api/services/apply", "editor"),
    ("POST", "/api/services/test-schema", "editor"),
    ("GET", "/api/services/{id}", "viewer"),
    ("PATCH", "/api/services/{id}", "editor"),
    ("DELETE", "/api/services/{id}", "editor"),
    ("POST", "/api/services/{id}/poll", "editor"),
    ("GET", "/api/services/{id}/poll-history", "viewer"),
    ("GET", "/api/services/{id}/locations", "viewer"),
    ("GET", "/api/dependencies/{id}", "viewer"),
    ("GET", "/api/dependencies/{id}/latency", "viewer"),
    ("GET", "/api/dependencies/{id}/errors", "viewer"),
    ("GET", "/api/dependencies/{id}/timeline", "viewer"),
    ("POST", "/api/dependencies/{id}/link", "editor"),
    ("DELETE", "/api/dependencies/{id}/link", "editor"),
    ("GET", "/api/instances", "viewer"),
    ("GET", "/api/activity", "viewer"),
    ("GET", "/api/activity/moments", "viewer"),
    ("GET", "/api/activity/unstable", "viewer"),
    ("GET", "/api/services/{id}/uptime", "viewer"),
    ("GET", "/api/dependencies/{id}/uptime", "viewer"),
    ("GET", "/api/graph/history", "viewer"),
    ("GET", "/api/now", "viewer"),
    ("GET", "/api/board", "viewer"),
    ("GET", "/api/board/strips", "viewer"),
    ("GET", "/api/wallboard", "viewer"),
    ("GET", "/api/journeys", "viewer"),
    ("POST", "/api/journeys", "editor"),
    ("POST", "/api/journeys/check", "editor"),
    ("GET", "/api/journeys/failing", "viewer"),
    ("GET", "/api/journeys/{id}", "viewer"),
    ("PATCH", "/api/journeys/{id}", "editor"),
    ("DELETE", "/api/journeys/{id}", "editor"),
    ("POST", "/api/journeys/{id}/run", "editor"),
    ("GET", "/api/journeys/{id}/runs", "viewer"),
    ("GET", "/api/runs/{id}", "viewer"),
    ("POST", "/api/runs/{id}/cancel", "editor"),
    ("GET", "/api/aliases", "viewer"),
    ("POST", "/api/aliases", "editor"),
    ("PATCH", "/api/aliases/{id}", "editor"),
    ("DELETE", "/api/aliases/{id}", "editor"),
    ("GET", "/api/graph", "viewer"),
    ("GET", "/api/graph/impact", "viewer"),
    ("GET", "/api/graph/node", "viewer"),
    ("GET", "/api/graph/node/then", "viewer"),
    ("GET", "/api/graph/suggestions", "viewer"),
    ("POST", "/api/graph/suggestions/confirm", "editor"),
    ("POST", "/api/graph/suggestions/dismiss", "editor"),
    ("GET", "/api/reports", "viewer"),
    ("GET", "/api/files", "viewer"),
    ("POST", "/api/files/upload", "owner"),
    ("GET", "/api/files/{id}", "viewer"),
    ("DELETE", "/api/files/{id}", "owner"),
    ("GET", "/api/files/{id}/report", "viewer"),
    ("POST", "/api/files/{id}/retry", "owner"),
    ("GET", "/api/files/{id}/shares", "viewer"),
    ("POST", "/api/files/{id}/shares", "owner"),
    ("DELETE", "/api/files/{id}/shares/{share}", "owner"),
    ("GET", "/api/shares/{token}", "viewer"),
    ("GET", "/api/workers", "viewer"),
    ("POST", "/api/workers", "editor"),
    ("GET", "/api/workers/providers", "viewer"),
    ("GET", "/api/workers/mass-failure", "viewer"),
    ("GET", "/api/workers/{id}", "viewer"),
    ("DELETE", "/api/workers/{id}", "editor"),
    ("POST", "/api/workers/{id}/provision", "editor"),
    ("POST", "/api/workers/{id}/start", "editor"),
    ("POST", "/api/workers/{id}/stop", "editor"),
    ("POST", "/api/workers/{id}/destroy", "editor"),
    ("POST", "/api/workers/{id}/health-check", "editor"),
    ("POST", "/api/workers/{id}/retry", "editor"),
    ("GET", "/api/nets", "viewer"),
    ("POST", "/api/nets", "editor"),
    ("GET", "/api/nets/{id}", "viewer"),
    ("PATCH", "/api/nets/{id}", "editor"),
    ("DELETE", "/api/nets/{id}", "editor"),
    ("POST", "/api/nets/{id}/load", "editor"),
    ("POST", "/api/nets/{id}/unload", "editor"),
    ("GET", "/api/events", "viewer"),
    ("GET", "/api/events/history", "viewer"),
];

/// Somebody who calls, and the refusal that they get from a route of each kind; `None` is none.
struct Calling {
    who: &'static str,
    headers: String,
    viewer: Option<&'static str>,
    viewer_in_person: Option<&'static str>,
    /// What changes what belongs to the caller, with a session or a token that writes.
    owner: Option<&'static str>,
    /// What changes what is watched, with a session or a token that writes.
    editor: Option<&'static str>,
    admin: Option<&'static str>,
    admin_in_person: Option<&'static str>,
}

impl Calling {
    fn all(who: &'static str, headers: String, refusal: Option<&'static str>) -> Self {
        Self {
            who,
            headers,
            viewer: refusal,
            viewer_in_person: refusal,
            owner: refusal,
            editor: refusal,
            admin: refusal,
            admin_in_person: refusal,
        }
    }

    fn refusal(&self, kind: &str) -> Option<&'static str> {
        match kind {
            "viewer" => self.viewer,
            "viewer in person" => self.viewer_in_person,
            "owner" => self.owner,
            "editor" => self.editor,
            "admin" => self.admin,
            "admin in person" => self.admin_in_person,
            _ => None,
        }
    }
}

/// A call that changes nothing even where it is let through.
async fn call(house: &House, method: &str, path: &str, headers: &str) -> Answer {
    let target = match path {
        // Let through, it would go on for ever.
        "/api/events" => "/api/events?connection=none".to_owned(),
        path => path
            .replace("{id}", NOBODY)
            .replace("{share}", NOBODY)
            .replace("{token}", NOBODY)
            .replace("{kind}", "No"),
    };
    let headers = format!("{JSON}{headers}");
    request(house.address, method, &target, &headers, "{}").await
}

fn below_admin(who: &'static str, headers: String) -> Calling {
    let refused = Some("forbidden");
    Calling { admin: refused, admin_in_person: refused, ..Calling::all(who, headers, None) }
}

async fn everybody(house: &House) -> (Person, Vec<Calling>) {
    let admin = house.admin().await;
    let editor = house.user(&admin, "editor@example.com", Role::Editor).await;
    let viewer = house.user(&admin, "viewer@example.com", Role::Viewer).await;
    let token = async |person: &Person, scope| bearer(&house.token(person, scope).await);
    let gone = house.user(&admin, "gone@example.com", Role::Admin).await;
    let gone_token = token(&gone, Scope::Write).await;
    let change = UserChange { status: Some(UserStatus::Disabled), role: None };
    let disabling = house.accounts.change_user(&admin.caller, gone.id(), change, Source::default());
    disabling.await.unwrap();

    let (unknown, in_person) = (Some("unauthenticated"), Some("session_required"));
    let with_token = |who, headers| Calling {
        viewer_in_person: in_person,
        admin_in_person: in_person,
        ..Calling::all(who, headers, None)
    };
    let of_viewer = Calling {
        viewer_in_person: in_person,
        editor: Some("forbidden"),
        ..below_admin("a viewer's token that writes", token(&viewer, Scope::Write).await)
    };
    let reads = Some("scope_missing");
    let agent = Calling {
        viewer_in_person: in_person,
        admin_in_person: in_person,
        ..Calling::all("an agent", token(&admin, Scope::Agent).await, Some("scope_missing"))
    };
    let made_up = "A".repeat(43);
    let own = &house.origin;
    let everybody = vec![
        Calling::all("nobody", String::new(), unknown),
        Calling::all(
            "a made-up session",
            format!("Cookie: session={made_up}\r\nOrigin: {own}\r\n"),
            unknown,
        ),
        Calling::all("a made-up token", bearer(&format!("mst_{made_up}")), unknown),
        Calling::all("a session as a token", bearer(&admin.session), unknown),
        Calling::all("an empty token", "Authorization: Bearer\r\n".to_owned(), unknown),
        Calling::all("a long token", bearer(&"x".repeat(10_000)), unknown),
        Calling::all(
            "a cookie beside a made-up token",
            format!("{}{}", admin.cookie(), bearer("mst_x")),
            unknown,
        ),
        Calling::all("a disabled admin", gone.cookie(), unknown),
        Calling::all("a disabled admin's token", gone_token, unknown),
        Calling { editor: Some("forbidden"), ..below_admin("a viewer", viewer.cookie()) },
        below_admin("an editor", editor.cookie()),
        Calling {
            viewer_in_person: in_person,
            ..below_admin("an editor's token that writes", token(&editor, Scope::Write).await)
        },
        Calling::all("an admin", admin.cookie(), None),
        of_viewer,
        Calling {
            editor: reads,
            owner: reads,
            ..with_token("an admin's token that reads", token(&admin, Scope::Read).await)
        },
        with_token("an admin's token that writes", token(&admin, Scope::Write).await),
        agent,
    ];
    (admin, everybody)
}

#[tokio::test]
async fn everybody_gets_as_far_as_they_may() {
    let expected: std::collections::BTreeSet<_> = EXPECTED
        .iter()
        .map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()))
        .collect();
    assert_eq!(expected, operations(), "say whom each route is for");

    let house = House::open().await;
    let (_, everybody) = everybody(&house).await;
    for calling in &everybody {
        let protected = EXPECTED.iter().filter(|(_, _, kind)| *kind != "public");
        for (method, path, kind) in protected {
            let place = format!("{} calls {method} {path}", calling.who);
            let answer = call(&house, method, path, &calling.headers).await;
            let Some(code) = calling.refusal(kind) else {
                assert!(![401, 403, 405, 429].contains(&answer.status), "{place}");
                assert!(answer.status < 500, "{place}: {}", answer.head);
                continue;
            };
            assert_eq!(answer.code(), code, "{place}");
            assert_eq!(answer.status, if code == "unauthenticated" { 401 } else { 403 }, "{place}");
            let is_token = calling.headers.contains("Bearer");
            let challenge = (answer.status == 401 && is_token).then_some("Bearer");
            assert_eq!(answer.header("www-authenticate"), challenge, "{place}");
        }
    }
}

#[tokio::test]
async fn what_is_public_is_open_to_whoever_is_not_known() {
    let house = House::open().await;
    let own = format!("Origin: {}\r\n", house.origin);
    let cookie = format!("Cookie: session=made-up\r\n{own}");
    for headers in ["", &own, &cookie, "Authorization: Bearer mst_x\r\n"] {
        for (method, path, _) in EXPECTED.iter().filter(|(_, _, kind)| *kind == "public") {
            let answer = call(&house, method, path, headers).await;
            let place = format!("{method} {path} {headers}: {}", answer.head);
            assert!(![401, 403, 405].contains(&answer.status), "{place}");
            assert!(answer.status < 500, "{place}");
        }
    }
}

#[tokio::test]
async fn no_other_site_changes_anything_with_the_cookie_of_somebody() {
    let house = House::open().await;
    let admin = house.admin().await;
    let cookie = format!("Cookie: session={}\r\n", admin.session);
    let before = admin.get("/api/admin/audit?limit=200").await.json();
    for (method, path, _) in EXPECTED.iter().filter(|(method, ..)| *method != "GET") {
        for sender in [
            "",
            "Origin: https://evil.example\r\n",
            "Origin: null\r\n",
            "Referer: https://evil.example/a\r\n",
        ] {
            let answer = call(&house, method, path, &format!("{cookie}{sender}")).await;
            let place = format!("{method} {path} {sender}");
            assert_eq!((answer.status, answer.code().as_str()), (403, "csrf"), "{place}");
            assert_eq!(answer.header("set-cookie"), None, "{place}");
        }
        // Nor may another site sign somebody in or out who is not.
        let answer = call(&house, method, path, "Origin: https://evil.example\r\n").await;
        assert_eq!(answer.code(), "csrf", "{method} {path}");
    }
    let after = admin.get("/api/admin/audit?limit=200").await;
    assert_eq!((after.status, after.json()), (200, before));
}
