//! Which crate may lean on which: `base ← kernel`, `base ← store ← … ← rooms ← http ← server`,
//! `base, breaker, kernel ← outbound`, `web ← server`.

/// One crate of the workspace and what it leans on, without what only its tests need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crate {
    /// Its package name.
    pub name: String,
    /// The package names it depends on.
    pub dependencies: Vec<String>,
}

/// What each crate of the house may lean on. A crate that is not listed is not in the house.
const ALLOWED: &[(&str, &[&str])] = &[
    ("mainstay-base", &[]),
    ("mainstay-breaker", &[]),
    // By its feature alone: without it the poller stands alone.
    ("mainstay-poller", &["mainstay-breaker"]),
    ("mainstay-yaml", &[]),
    ("mainstay-kernel", &["mainstay-base"]),
    ("mainstay-graph", &["mainstay-base"]),
    ("mainstay-outbound", &["mainstay-base", "mainstay-breaker", "mainstay-kernel"]),
    ("mainstay-store", &["mainstay-base"]),
    ("mainstay-events", &["mainstay-base", "mainstay-store"]),
    ("mainstay-jobs", &["mainstay-base", "mainstay-store", "mainstay-events"]),
    ("mainstay-accounts", &["mainstay-base", "mainstay-store"]),
    (
        "mainstay-monitor",
        &[
            "mainstay-base",
            "mainstay-breaker",
            "mainstay-graph",
            "mainstay-kernel",
            "mainstay-outbound",
            "mainstay-store",
            "mainstay-events",
            "mainstay-jobs",
        ],
    ),
    (
        "mainstay-reports",
        &[
            "mainstay-base",
            "mainstay-breaker",
            "mainstay-kernel",
            "mainstay-outbound",
            "mainstay-store",
            "mainstay-events",
            "mainstay-jobs",
        ],
    ),
    (
        "mainstay-fleet",
        &[
            "mainstay-base",
            "mainstay-breaker",
            "mainstay-kernel",
            "mainstay-outbound",
            "mainstay-poller",
            "mainstay-store",
            "mainstay-events",
            "mainstay-jobs",
        ],
    ),
    (
        "mainstay-journeys",
        &[
            "mainstay-base",
            "mainstay-breaker",
            "mainstay-outbound",
            "mainstay-poller",
            "mainstay-store",
            "mainstay-events",
            "mainstay-jobs",
            "mainstay-yaml",
        ],
    ),
    (
        "mainstay-http",
        &[
            "mainstay-base",
            "mainstay-kernel",
            "mainstay-store",
            "mainstay-events",
            "mainstay-jobs",
            "mainstay-accounts",
            "mainstay-fleet",
            "mainstay-journeys",
            "mainstay-monitor",
            "mainstay-reports",
        ],
    ),
    ("mainstay-web", &[]),
    (
        "mainstay",
        &[
            "mainstay-base",
            "mainstay-breaker",
            "mainstay-kernel",
            "mainstay-outbound",
            "mainstay-store",
            "mainstay-events",
            "mainstay-jobs",
            "mainstay-accounts",
            "mainstay-fleet",
            "mainstay-journeys",
            "mainstay-monitor",
            "mainstay-reports",
            "mainstay-http",
            "mainstay-standins",
            "mainstay-web",
            "mainstay-yaml",
        ],
    ),
    ("mainstay-standins", &["mainstay-base"]),
    ("mainstay-testkit", &["mainstay-base", "mainstay-store"]),
];

/// Libraries that only one room may name, because it guards what they do.
const OWNED: &[(&str, &[&str])] = &[
    ("sqlx", &["mainstay-store"]),
    ("axum", &["mainstay-http"]),
    ("hyper", &["mainstay-http", "mainstay-outbound", "mainstay-standins", "mainstay-testkit"]),
    ("reqwest", &[]),
    ("object_store", &["mainstay-outbound"]),
    ("argon2", &["mainstay-accounts"]),
    ("lettre", &["mainstay-outbound"]),
    ("anyhow", &["mainstay"]),
    ("rand", &["mainstay-base"]),
];

/// Packages of tests and benches: they may lean on everything.
const OUTSIDE: [&str; 4] =
    ["mainstay-house-tests", "mainstay-conformance-tests", "mainstay-sim", "mainstay-benches"];

/// Every arrow that points the wrong way.
#[must_use]
pub fn broken(crates: &[Crate]) -> Vec<String> {
    crates.iter().filter(|one| !OUTSIDE.contains(&one.name.as_str())).flat_map(broken_of).collect()
}

fn broken_of(one: &Crate) -> Vec<String> {
    let name = one.name.as_str();
    let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
        return vec![format!(
            "{name} is not in the map of tests/house/src/arrows.rs: add it there and to ARCHITECTURE.md"
        )];
    };
    let ours = one.dependencies.iter().filter(|other| other.starts_with("mainstay"));
    let wrong_way = ours
        .filter(|other| !allowed.contains(&other.as_str()))
        .map(|other| format!("{name} must not lean on {other}"));
    let foreign = one.dependencies.iter().filter_map(|other| not_owned(name, other));
    wrong_way.chain(foreign).collect()
}

fn not_owned(name: &str, library: &str) -> Option<String> {
    let (_, owners) = OWNED.iter().find(|(owned, _)| *owned == library)?;
    let owner = owners.first().copied().unwrap_or("outbound, which has no use for it yet,");
    (!owners.contains(&name)).then(|| format!("{name} must not name {library}: only {owner} may"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, dependencies: &[&str]) -> Crate {
        let dependencies = dependencies.iter().map(|&other| other.to_owned()).collect();
        Crate { name: name.to_owned(), dependencies }
    }

    #[test]
    fn what_breaks_an_arrow_is_told() {
        for (given, told) in [
            (
                one("mainstay-base", &["mainstay-store"]),
                "mainstay-base must not lean on mainstay-store",
            ),
            (
                one("mainstay-kernel", &["mainstay-store"]),
                "mainstay-kernel must not lean on mainstay-store",
            ),
            (
                one("mainstay-store", &["mainstay-http"]),
                "mainstay-store must not lean on mainstay-http",
            ),
            (
                one("mainstay-http", &["mainstay-web"]),
                "mainstay-http must not lean on mainstay-web",
            ),
            (
                one("mainstay-http", &["sqlx"]),
                "mainstay-http must not name sqlx: only mainstay-store may",
            ),
            (one("mainstay", &["axum"]), "mainstay must not name axum: only mainstay-http may"),
            (
                one("mainstay", &["lettre"]),
                "mainstay must not name lettre: only mainstay-outbound may",
            ),
            (one("mainstay", &["reqwest"]), "mainstay must not name reqwest: only outbound"),
        ] {
            let broken = broken(std::slice::from_ref(&given));
            assert!(matches!(broken.as_slice(), [only] if only.starts_with(told)), "{broken:?}");
        }
    }

    #[test]
    fn a_crate_that_nobody_placed_is_told() {
        assert_eq!(broken(&[one("mainstay-cellar", &[])]).len(), 1);
    }

    #[test]
    fn what_keeps_the_arrows_is_fine() {
        let house = [
            one("mainstay-store", &["mainstay-base", "sqlx"]),
            one("mainstay", &["anyhow", "mainstay-kernel", "mainstay-outbound"]),
            one("mainstay-outbound", &["lettre", "mainstay-breaker", "mainstay-kernel"]),
        ];
        assert_eq!(broken(&house), Vec::<String>::new());
    }
}
