//! Who may call which route: one line for each. A route without a line is refused, so that a new one
//! is closed until somebody decides whom it is for.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderValue, Method, header};
use axum::response::{IntoResponse as _, Response};
use mainstay_accounts::{Caller, Limit, Means, Role, Scope};

use crate::code::Code;
use crate::error::Error;
use crate::surface::Site;

/// A route, and whom it is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// `GET` stands for `HEAD` too.
    pub(crate) method: &'static str,
    /// The path as the router knows it.
    pub(crate) path: &'static str,
    pub(crate) who: Who,
}

/// Whom a route is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Who {
    /// Everybody.
    Public,
    /// Whoever is signed in and has what it needs.
    SignedIn(Needs),
    /// Everybody when Mainstay is alone or its metrics are public, otherwise as [`Who::SignedIn`].
    Watchers(Needs),
}

/// What a caller needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    /// The least role.
    pub(crate) role: Role,
    /// The scope that an API token needs; `None` where only a session will do.
    pub(crate) scope: Option<Scope>,
    /// How often one user may.
    pub(crate) limit: Option<&'static Limit>,
    /// What else whoever is refused should know.
    hint: &'static str,
}

/// Every route.
pub(crate) const TABLE: &[Entry] = &[
    public("GET", "/healthz"),
    public("GET", "/readyz"),
    Entry { method: "GET", path: "/metrics", who: Who::Watchers(METRICS) },
    public("GET", "/api/openapi.json"),
    reads("/api/system", Role::Viewer),
    public("GET", "/api/auth/setup"),
    public("POST", "/api/auth/setup"),
    public("POST", "/api/auth/enter"),
    public("POST", "/api/auth/login"),
    public("POST", "/api/auth/logout"),
    reads("/api/auth/me", Role::Viewer),
    public("POST", "/api/invites/look"),
    public("POST", "/api/invites/accept"),
    public("GET", "/api/access-requests/form"),
    public("POST", "/api/access-requests"),
    reads("/api/account/sessions", Role::Viewer),
    by_people("DELETE", "/api/account/sessions", Role::Viewer),
    by_people("DELETE", "/api/account/sessions/{id}", Role::Viewer),
    by_people("POST", "/api/account/password", Role::Viewer),
    reads("/api/account/tokens", Role::Viewer),
    by_people("POST", "/api/account/tokens", Role::Viewer),
    by_people("DELETE", "/api/account/tokens/{id}", Role::Viewer),
    reads("/api/admin/users", Role::Admin),
    by_people("PATCH", "/api/admin/users/{id}", Role::Admin),
    reads("/api/admin/invites", Role::Admin),
    by_people("POST", "/api/admin/invites", Role::Admin).limited(&INVITES),
    by_people("DELETE", "/api/admin/invites/{id}", Role::Admin),
    reads("/api/admin/access-requests", Role::Admin),
    by_people("PATCH", "/api/admin/access-requests/{id}", Role::Admin),
    reads("/api/admin/audit", Role::Admin),
    reads("/api/admin/settings", Role::Admin),
    reads("/api/admin/jobs", Role::Admin),
    reads("/api/admin/jobs/stuck", Role::Admin),
    reads("/api/admin/jobs/summary", Role::Admin),
    reads("/api/admin/jobs/{id}", Role::Admin),
    by_people("POST", "/api/admin/jobs/{id}/retry", Role::Admin),
    by_people("POST", "/api/admin/jobs/{id}/cancel", Role::Admin),
    by_people("POST", "/api/admin/jobs/kinds/{kind}/pause", Role::Admin),
    by_people("POST", "/api/admin/jobs/kinds/{kind}/resume", Role::Admin),
    reads("/api/services", Role::Viewer),
    edits("POST", "/api/services"),
    reads("/api/services/export", Role::Viewer),
    edits("POST", "/api/services/apply").limited(&APPLIES),
    edits("POST", "/api/services/test-schema").limited(&TRIALS),
    reads("/api/services/{id}", Role::Viewer),
    edits("PATCH", "/api/services/{id}"),
    edits("DELETE", "/api/services/{id}"),
    edits("POST", "/api/services/{id}/poll").limited(&POLLS),
    reads("/api/services/{id}/poll-history", Role::Viewer),
    reads("/api/services/{id}/locations", Role::Viewer),
    reads("/api/dependencies/{id}", Role::Viewer),
    reads("/api/dependencies/{id}/latency", Role::Viewer),
    reads("/api/dependencies/{id}/errors", Role::Viewer),
    reads("/api/dependencies/{id}/timeline", Role::Viewer),
    edits("POST", "/api/dependencies/{id}/link"),
    edits("DELETE", "/api/dependencies/{id}/link"),
    reads("/api/instances", Role::Viewer),
    reads("/api/activity", Role::Viewer),
    reads("/api/activity/moments", Role::Viewer),
    reads("/api/activity/unstable", Role::Viewer),
    reads("/api/services/{id}/uptime", Role::Viewer),
    reads("/api/dependencies/{id}/uptime", Role::Viewer),
    reads("/api/graph/history", Role::Viewer),
    reads("/api/now", Role::Viewer),
    reads("/api/board", Role::Viewer),
    reads("/api/board/strips", Role::Viewer),
    reads("/api/wallboard", Role::Viewer),
    reads("/api/aliases", Role::Viewer),
    edits("POST", "/api/aliases"),
    edits("PATCH", "/api/aliases/{id}"),
    edits("DELETE", "/api/aliases/{id}"),
    reads("/api/graph", Role::Viewer),
    reads("/api/graph/impact", Role::Viewer),
    reads("/api/graph/node", Role::Viewer),
    reads("/api/graph/node/then", Role::Viewer),
    reads("/api/graph/suggestions", Role::Viewer),
    edits("POST", "/api/graph/suggestions/confirm"),
    edits("POST", "/api/graph/suggestions/dismiss"),
    reads("/api/reports", Role::Viewer),
    reads("/api/files", Role::Viewer),
    owns("POST", "/api/files/upload").limited(&UPLOADS),
    reads("/api/files/{id}", Role::Viewer),
    owns("DELETE", "/api/files/{id}"),
    reads("/api/files/{id}/report", Role::Viewer),
    owns("POST", "/api/files/{id}/retry").limited(&UPLOADS),
    reads("/api/files/{id}/shares", Role::Viewer),
    owns("POST", "/api/files/{id}/shares"),
    owns("DELETE", "/api/files/{id}/shares/{share}"),
    reads("/api/shares/{token}", Role::Viewer).limited(&SHARED),
    reads("/api/workers", Role::Viewer).limited(&WORKER_LISTS),
    crews("POST", "/api/workers"),
    reads("/api/workers/providers", Role::Viewer),
    reads("/api/workers/mass-failure", Role::Viewer),
    reads("/api/workers/{id}", Role::Viewer),
    crews("DELETE", "/api/workers/{id}"),
    crews("POST", "/api/workers/{id}/provision"),
    crews("POST", "/api/workers/{id}/start"),
    crews("POST", "/api/workers/{id}/stop"),
    crews("POST", "/api/workers/{id}/destroy"),
    crews("POST", "/api/workers/{id}/health-check"),
    crews("POST", "/api/workers/{id}/retry"),
    reads("/api/nets", Role::Viewer).limited(&NET_LISTS),
    crews("POST", "/api/nets"),
    reads("/api/nets/{id}", Role::Viewer),
    crews("PATCH", "/api/nets/{id}"),
    crews("DELETE", "/api/nets/{id}"),
    crews("POST", "/api/nets/{id}/load"),
    crews("POST", "/api/nets/{id}/unload"),
    reads("/api/journeys", Role::Viewer),
    edits("POST", "/api/journeys"),
    edits("POST", "/api/journeys/check").limited(&CHECKS),
    reads("/api/journeys/failing", Role::Viewer),
    reads("/api/journeys/{id}", Role::Viewer),
    edits("PATCH", "/api/journeys/{id}"),
    edits("DELETE", "/api/journeys/{id}"),
    edits("POST", "/api/journeys/{id}/run").limited(&RUNS),
    reads("/api/journeys/{id}/runs", Role::Viewer),
    reads("/api/runs/{id}", Role::Viewer),
    edits("POST", "/api/runs/{id}/cancel"),
    reads("/api/events", Role::Viewer),
    reads("/api/events/history", Role::Viewer),
];

/// Whoever takes over an admin's browser can't flood the world with mail.
static INVITES: Limit = Limit { name: "create_invite", count: 30, window: Duration::from_secs(60) };

/// Each change is a line of the audit log: nobody fills it faster than it is cleaned up.
static CHANGES: Limit =
    Limit { name: "change_account", count: 300, window: Duration::from_secs(60) };

/// As [`CHANGES`]; scripts that add all services of a company take a few minutes.
static EDITS: Limit = Limit { name: "edit_monitor", count: 1_200, window: Duration::from_secs(60) };

/// Each is long to read, and may keep everybody else from writing for a moment.
static APPLIES: Limit =
    Limit { name: "apply_services", count: 60, window: Duration::from_secs(60) };

/// As [`CHANGES`], of one's own files.
static OWN_CHANGES: Limit =
    Limit { name: "change_file", count: 300, window: Duration::from_secs(60) };

/// Each fills the storage and asks a language model, which costs.
static UPLOADS: Limit = Limit { name: "upload_file", count: 20, window: Duration::from_secs(60) };

/// Nobody finds a token by trying.
static SHARED: Limit = Limit { name: "read_share", count: 60, window: Duration::from_secs(60) };

/// Each makes Mainstay call somebody and read what may be long.
static TRIALS: Limit = Limit { name: "test_schema", count: 30, window: Duration::from_secs(60) };

/// Each makes Mainstay call somebody.
static POLLS: Limit = Limit { name: "poll_now", count: 60, window: Duration::from_secs(60) };

/// Whoever follows the events need not ask again and again.
static WORKER_LISTS: Limit =
    Limit { name: "list_workers", count: 30, window: Duration::from_secs(60) };

/// As [`WORKER_LISTS`].
static NET_LISTS: Limit = Limit { name: "list_nets", count: 30, window: Duration::from_secs(60) };

/// Each makes Mainstay call somebody, and machines cost.
static OPERATIONS: Limit =
    Limit { name: "change_fleet", count: 120, window: Duration::from_secs(60) };

/// Each is long to read; a person who types asks a few times a second.
static CHECKS: Limit = Limit { name: "check_journey", count: 300, window: Duration::from_secs(60) };

/// Each makes Mainstay call somebody, many times.
static RUNS: Limit = Limit { name: "run_journey", count: 60, window: Duration::from_secs(60) };

const METRICS: Needs = Needs {
    hint: " The metrics are open to everyone when metrics.public (MAINSTAY_METRICS_PUBLIC=true) is \
           set.",
    ..Needs::new(Role::Viewer, Some(Scope::Read))
};

pub(crate) const fn public(method: &'static str, path: &'static str) -> Entry {
    Entry { method, path, who: Who::Public }
}

/// Reads something, with a session or with any token that reads.
pub(crate) const fn reads(path: &'static str, role: Role) -> Entry {
    let needs = Needs::new(role, Some(Scope::Read));
    Entry { method: "GET", path, who: Who::SignedIn(needs) }
}

/// Changes something that only a person may, so no token will do.
const fn by_people(method: &'static str, path: &'static str, role: Role) -> Entry {
    let needs = Needs { limit: Some(&CHANGES), ..Needs::new(role, None) };
    Entry { method, path, who: Who::SignedIn(needs) }
}

/// Changes what is watched, with a session or with a token that writes.
const fn edits(method: &'static str, path: &'static str) -> Entry {
    let needs = Needs { limit: Some(&EDITS), ..Needs::new(Role::Editor, Some(Scope::Write)) };
    Entry { method, path, who: Who::SignedIn(needs) }
}

/// Changes what belongs to the caller, with a session or with a token that writes.
const fn owns(method: &'static str, path: &'static str) -> Entry {
    let needs = Needs { limit: Some(&OWN_CHANGES), ..Needs::new(Role::Viewer, Some(Scope::Write)) };
    Entry { method, path, who: Who::SignedIn(needs) }
}

/// Changes the caller's own workers and nets, which cost: not for those who only look.
const fn crews(method: &'static str, path: &'static str) -> Entry {
    let needs = Needs { limit: Some(&OPERATIONS), ..Needs::new(Role::Editor, Some(Scope::Write)) };
    Entry { method, path, who: Who::SignedIn(needs) }
}

impl Entry {
    /// The same, so often.
    const fn limited(mut self, limit: &'static Limit) -> Self {
        if let Who::SignedIn(needs) = &mut self.who {
            needs.limit = Some(limit);
        }
        self
    }
}

impl Needs {
    const fn new(role: Role, scope: Option<Scope>) -> Self {
        Self { role, scope, limit: None, hint: "" }
    }

    /// Refuses a caller who lacks something.
    pub(crate) fn check(&self, caller: &Caller) -> Result<(), Error> {
        let role = caller.user.role;
        if role < self.role {
            let detail =
                format!("This is for the role {} and yours is {role}. Ask an admin.", self.role);
            return Err(self.refusal(Code::Forbidden, detail));
        }
        match (&caller.means, self.scope) {
            (Means::Token { .. }, None) => {
                let detail = "An API token can't do this. Sign in at /login and do it there.";
                Err(self.refusal(Code::SessionRequired, detail.to_owned()))
            }
            (Means::Token { scope, .. }, Some(needed)) if !covers(*scope, needed) => {
                let detail = format!(
                    "This needs a token with the scope {needed} and yours has {scope}. Make \
                     another one under /account."
                );
                Err(self.refusal(Code::ScopeMissing, detail))
            }
            _ => Ok(()),
        }
    }

    /// Nobody knows who is calling.
    pub(crate) fn unknown_caller(&self) -> Error {
        let how = match self.scope {
            Some(scope) => format!(
                "Sign in at /login, or send an API token with the scope {scope}: Authorization: \
                 Bearer mst_…"
            ),
            None => "Sign in at /login.".to_owned(),
        };
        let detail = format!("There is no valid session and no valid token. {how}");
        self.refusal(Code::Unauthenticated, detail)
    }

    fn refusal(&self, code: Code, mut detail: String) -> Error {
        detail.push_str(self.hint);
        Error::new(code, detail)
    }
}

/// Whether a token of one scope may do what another is needed for.
const fn covers(scope: Scope, needed: Scope) -> bool {
    match scope {
        Scope::Read => matches!(needed, Scope::Read),
        Scope::Write => matches!(needed, Scope::Read | Scope::Write),
        Scope::Agent => matches!(needed, Scope::Agent),
    }
}

/// What is to be done before a request reaches its route.
pub(crate) enum Door {
    /// Nothing.
    Open,
    /// Its caller needs this.
    Guarded(Needs),
    /// It does not get there.
    Closed(Response),
}

/// The table, as requests ask it.
pub(crate) struct Doors(HashMap<&'static str, Vec<(&'static str, Option<Needs>)>>);

impl Doors {
    pub(crate) fn new(table: impl IntoIterator<Item = Entry>, site: &Site) -> Self {
        let mut paths = HashMap::<_, Vec<_>>::new();
        for Entry { method, path, who } in table {
            let needs = match who {
                Who::Public => None,
                Who::Watchers(_) if site.alone || site.metrics_public => None,
                Who::SignedIn(needs) | Who::Watchers(needs) => Some(needs),
            };
            paths.entry(path).or_default().push((method, needs));
        }
        Self(paths)
    }

    /// What stands between a request and its route. What no route takes is left to the fallback.
    pub(crate) fn find(&self, request: &Request) -> Door {
        let Some(path) = request.extensions().get::<MatchedPath>() else { return Door::Open };
        let Some(methods) = self.0.get(path.as_str()) else { return Door::Closed(undecided()) };
        let asked = match request.method() {
            &Method::HEAD => Method::GET.as_str(),
            method => method.as_str(),
        };
        match methods.iter().find(|(method, _)| *method == asked) {
            Some((_, None)) => Door::Open,
            Some((_, Some(needs))) => Door::Guarded(*needs),
            None => Door::Closed(not_allowed(methods.iter().map(|(method, _)| *method))),
        }
    }
}

fn undecided() -> Response {
    let detail = "Nobody may call this route, because this Mainstay does not say who may.";
    Error::new(Code::Forbidden, detail).into_response()
}

/// A path that exists, asked by a method that does not.
pub(crate) fn not_allowed(methods: impl Iterator<Item = &'static str>) -> Response {
    let names = methods.map(|method| if method == "GET" { "GET,HEAD" } else { method });
    let allow = names.collect::<Vec<_>>().join(",");
    let error =
        Error::new(Code::MethodNotAllowed, "Use one of the methods that the header Allow names.");
    match HeaderValue::try_from(allow) {
        Ok(allow) => ([(header::ALLOW, allow)], error).into_response(),
        Err(_) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_what_it_says_and_no_more() {
        for (scope, needed, covered) in [
            (Scope::Read, Scope::Read, true),
            (Scope::Read, Scope::Write, false),
            (Scope::Read, Scope::Agent, false),
            (Scope::Write, Scope::Read, true),
            (Scope::Write, Scope::Write, true),
            (Scope::Write, Scope::Agent, false),
            (Scope::Agent, Scope::Read, false),
            (Scope::Agent, Scope::Write, false),
            (Scope::Agent, Scope::Agent, true),
        ] {
            assert_eq!(covers(scope, needed), covered, "{scope} {needed}");
        }
    }

    #[test]
    fn what_changes_something_is_not_open_to_a_token_that_reads() {
        for Entry { method, path, who } in TABLE {
            let (Who::SignedIn(needs) | Who::Watchers(needs)) = who else { continue };
            assert_eq!(*method == "GET", needs.scope == Some(Scope::Read), "{method} {path}");
        }
    }

    #[test]
    fn accounts_and_their_administration_are_changed_by_people_only() {
        for Entry { method, path, who } in TABLE {
            if path.starts_with("/api/admin/") || path.starts_with("/api/account/") {
                let Who::SignedIn(needs) = who else { panic!("{path} is open") };
                assert!(*method == "GET" || needs.scope.is_none(), "{method} {path}");
                assert!(!path.starts_with("/api/admin/") || needs.role == Role::Admin, "{path}");
            }
        }
    }
}
