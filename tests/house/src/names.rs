//! Names that may stand only in one room, found by reading the source.

use crate::source::File;

/// A name, where it may stand, and why nowhere else.
struct Rule {
    names: &'static [&'static str],
    /// Path prefixes where the rule holds.
    within: &'static [&'static str],
    /// Path prefixes where the name may stand all the same.
    except: &'static [&'static str],
    reason: &'static str,
}

const CRATES: &[&str] = &["crates/"];

/// What never runs in production.
const TEST_CODE: [&str; 3] = ["/tests/", "crates/testkit/", "crates/standins/"];

const RULES: &[Rule] = &[
    Rule {
        names: &[
            "async ",
            ".await",
            "tokio::",
            "Instant",
            "SystemTime",
            "std::net",
            "std::fs",
            "std::io",
        ],
        within: &["crates/kernel/src/", "crates/graph/src/", "crates/breaker/src/machine"],
        except: &[],
        reason: "a guard is pure: `now` is an argument (invariant 1)",
    },
    Rule {
        names: &["sqlx::", "sqlx!"],
        within: CRATES,
        except: &["crates/store/"],
        reason: "only store names sqlx (invariant 2)",
    },
    Rule {
        names: &["axum::"],
        within: CRATES,
        except: &["crates/http/"],
        reason: "only http names axum (invariant 2)",
    },
    Rule {
        names: &["reqwest::", "object_store::", "hyper::client", "hyper_util::client"],
        within: CRATES,
        except: &["crates/outbound/"],
        reason: "only outbound calls out (invariant 2)",
    },
    Rule {
        names: &["env::var(", "env::var_os(", "env::vars(", "env::vars_os("],
        within: CRATES,
        except: &["crates/server/src/config/", "crates/web/build", "crates/server/build"],
        reason: "only server/config reads the environment, and build scripts theirs (invariant 2)",
    },
    Rule {
        names: &["Sql::same(", "Sql::pair("],
        within: CRATES,
        except: &["crates/store/", "/record.rs", "/record/"],
        reason: "all SQL of a room stands in its record.rs, beside the event it goes with (invariant 3)",
    },
    Rule {
        names: &[
            "unbounded_channel",
            "UnboundedSender",
            "mpsc::channel()",
            ", usize::MAX)",
            "lazy_static",
        ],
        within: CRATES,
        except: &[],
        reason: "every queue, map and body has a bound with a name (invariant 4)",
    },
    Rule {
        names: &[
            "Instant::now",
            "SystemTime::now",
            "Timestamp::now()",
            "Zoned::now",
            "thread_rng",
            "rand::rng",
            "rand::random",
            "now_v7",
            "Uuid::new_v4",
        ],
        within: CRATES,
        except: &[
            "crates/base/",
            "crates/outbound/",
            "crates/breaker/src/clock.rs",
            "crates/poller/src/clock.rs",
        ],
        reason: "time and chance are injected (invariant 6)",
    },
    Rule {
        names: &["Client::new(", "Client::builder("],
        within: CRATES,
        except: &["crates/outbound/"],
        reason: "outbound's client is the limited, guarded and measured one (invariant 6)",
    },
];

/// Every line that names what its room may not name.
#[must_use]
pub fn misplaced(files: &[File]) -> Vec<String> {
    files.iter().filter(|file| !is_test_code(&file.path)).flat_map(misplaced_in).collect()
}

fn misplaced_in(file: &File) -> Vec<String> {
    let held = RULES.iter().filter(|rule| rule.holds_for(&file.path));
    held.flat_map(|rule| {
        production_lines(&file.text)
            .filter(|(_, line)| rule.names.iter().any(|name| line.contains(name)))
            .map(|(number, _)| format!("{}:{number}: {}", file.path, rule.reason))
            .collect::<Vec<_>>()
    })
    .collect()
}

impl Rule {
    fn holds_for(&self, path: &str) -> bool {
        self.within.iter().any(|prefix| path.starts_with(prefix))
            && !self.except.iter().any(|part| path.contains(part))
    }
}

fn is_test_code(path: &str) -> bool {
    TEST_CODE.iter().any(|part| path.contains(part)) || path.ends_with("tests.rs")
}

/// The numbered lines without comments and without what is compiled for tests only: a line that
/// declares a module of tests, or everything from a module of tests on.
fn production_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_marked = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| lines.get(before));
        before.is_some_and(|line| line.trim() == "#[cfg(test)]")
    };
    let opens_tests = |at: usize, line: &str| is_marked(at) && line.trim_end().ends_with('{');
    let end = lines.iter().enumerate().position(|(at, line)| opens_tests(at, line));
    let kept: Vec<(usize, &str)> = lines
        .iter()
        .enumerate()
        .take(end.unwrap_or(lines.len()))
        .filter(|(at, line)| !is_marked(*at) && !line.trim_start().starts_with("//"))
        .map(|(at, line)| (at.saturating_add(1), *line))
        .collect();
    kept.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misplaced_at(path: &str, text: &str) -> usize {
        misplaced(&[File { path: path.to_owned(), text: text.to_owned() }]).len()
    }

    #[test]
    fn a_name_in_the_wrong_room_is_told() {
        for (path, text) in [
            ("crates/kernel/src/backoff.rs", "pub async fn wait() {}"),
            ("crates/kernel/src/backoff.rs", "use std::time::Instant;"),
            ("crates/monitor/src/record.rs", "use sqlx::Row;"),
            ("crates/server/src/wire.rs", "use axum::Router;"),
            ("crates/fleet/src/observe.rs", "reqwest::get(url)"),
            ("crates/http/src/serve.rs", "std::env::var(\"PORT\")"),
            ("crates/monitor/src/engine.rs", "const FIND: Sql = Sql::same(\"a\", \"b\");"),
            ("crates/jobs/src/runner.rs", "let (a, b) = mpsc::unbounded_channel();"),
            ("crates/jobs/src/lease.rs", "let now = SystemTime::now();"),
            ("crates/reports/src/llm/openai.rs", "let client = Client::new();"),
            ("crates/jobs/src/lib.rs", "#[cfg(test)]\nmod tests;\nuse sqlx::Row;"),
        ] {
            assert_eq!(misplaced_at(path, text), 1, "{path}: {text}");
        }
    }

    #[test]
    fn the_right_room_tests_and_comments_are_fine() {
        for (path, text) in [
            ("crates/store/src/row.rs", "use sqlx::Row;"),
            ("crates/base/src/clock.rs", "Instant::now()"),
            ("crates/monitor/src/record.rs", "const FIND: Sql = Sql::same(\"a\", \"b\");"),
            ("crates/jobs/src/lease.rs", "// not SystemTime::now()"),
            (
                "crates/jobs/src/lease.rs",
                "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { SystemTime::now(); } }",
            ),
            ("crates/http/tests/limits.rs", "reqwest::get(url)"),
        ] {
            assert_eq!(misplaced_at(path, text), 0, "{path}: {text}");
        }
    }
}
