//! `mainstay demo`, as a stranger meets it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use mainstay_base::Timestamp;
use mainstay_testkit::Stalls;
use serde_json::{Value, json};

use crate::client::request;
use crate::people::{post, signed};
use crate::process::{PATIENCE, mainstay, send_signal};

/// From the command to the first session.
const ALIVE_WITHIN: Duration = Duration::from_secs(10);

/// A running demo, killed when the test ends.
struct Demo {
    child: Child,
    /// Where a story is given its cues that was started with `--cue`.
    cues: ChildStdin,
    address: String,
    token: String,
    /// The headers of whoever signed in.
    session: String,
}

impl Demo {
    fn start(folder: &Path, arguments: &[&str]) -> Self {
        let mut demo = Self::spawn(command(folder, arguments));
        let entered = post(&demo.address, "/api/auth/enter", "", &json!({"token": demo.token}));
        assert_eq!(entered.status, 200, "{}", entered.text());
        demo.session = signed(&demo.address, &entered);
        demo
    }

    /// Waits for the link.
    fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let cues = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let link = lines.map_while(Result::ok).find_map(|line| {
            let (address, token) = line.trim().strip_prefix("http://")?.split_once("/login#")?;
            Some((address.to_owned(), token.to_owned()))
        });
        let (address, token) = link.expect("it prints a link");
        Self { child, cues, address, token, session: String::new() }
    }

    /// Lets the story be told up to a second.
    fn cue(&mut self, second: u32) {
        writeln!(self.cues, "{second}").unwrap();
    }

    fn get(&self, path: &str) -> Value {
        let answer = request(&self.address, "GET", path, &self.session);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()
    }

    /// The first root cause: its name and status.
    fn root_cause(&self) -> Option<(String, String)> {
        let graph = self.get("/api/graph");
        let node = &graph["root_causes"][0]["nodes"][0];
        Some((node["name"].as_str()?.to_owned(), node["status"].as_str()?.to_owned()))
    }

    fn await_root_cause(&self, wanted: Option<(&str, &str)>) {
        let wanted = wanted.map(|(name, status)| (name.to_owned(), status.to_owned()));
        let began = Instant::now();
        loop {
            let found = self.root_cause();
            if found == wanted {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "{found:?} instead of {wanted:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop(mut self, signal: &str) {
        send_signal(self.child.id(), signal);
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "SIG{signal}");
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The binary with its folder for temporary files in `folder`.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = mainstay(folder);
    command.env("TMPDIR", folder).arg("demo").args(arguments);
    command
}

fn left_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What happened in the past, without ids and times of day.
fn past(demo: &Demo) -> Vec<(Value, Value, Value, Value)> {
    let activity = demo.get("/api/activity?limit=200");
    let items = activity["items"].as_array().unwrap();
    let told = |item: &Value| {
        let field = |name: &str| item[name].clone();
        (field("service_name"), field("dependency_name"), field("previous"), field("current"))
    };
    items.iter().map(told).collect()
}

#[test]
fn a_stranger_sees_a_calm_company_and_then_an_incident_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let (began, stalls) = (Instant::now(), Stalls::watch());
    let mut demo = Demo::start(folder.path(), &["--fast", "--cue"]);
    // While the machine lets nobody go on, no demo does.
    let took = began.elapsed().saturating_sub(stalls.since(began));
    assert!(took < ALIVE_WITHIN, "{took:?}");
    demo.cue(4);
    assert_eq!(demo.root_cause(), None, "a calm look first");
    let services = demo.get("/api/services?limit=200");
    assert_eq!(services["items"].as_array().unwrap().len(), 14);

    let again = post(&demo.address, "/api/auth/enter", "", &json!({"token": demo.token}));
    assert_eq!(again.status, 400, "the link works once");

    demo.cue(40);
    demo.await_root_cause(Some(("PostgreSQL main", "down")));
    demo.stop("TERM");
    assert_eq!(left_in(folder.path()), Vec::<String>::new());
}

#[test]
fn the_incident_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut demo = Demo::start(folder.path(), &["--start-at", "78", "--cue"]);
    demo.await_root_cause(Some(("PostgreSQL main", "degraded")));
    demo.cue(100);
    demo.await_root_cause(None);
    demo.stop("TERM");
}

#[test]
fn there_is_a_past_that_is_the_same_for_the_same_seed() {
    let folder = tempfile::tempdir().unwrap();
    let of_seed = |seed: &str| {
        let demo = Demo::start(folder.path(), &["--hold", "--seed", seed]);
        let told = past(&demo);
        let services = demo.get("/api/services?limit=200");
        let ids: Vec<_> =
            services["items"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
        let ids: Vec<_> = ids.into_iter().map(|id| id.as_str().unwrap()).collect();
        let strips = demo.get(&format!("/api/board/strips?ids={}", ids.join(",")));
        for strip in strips["items"].as_array().unwrap() {
            let cells = strip["cells"].as_array().unwrap();
            let blank = cells.iter().filter(|cell| cell.is_null() || *cell == "unknown").count();
            assert!(blank <= 1, "{cells:?}");
        }
        demo.stop("INT");
        told
    };
    let (first, second, other) = (of_seed("7"), of_seed("7"), of_seed("8"));
    assert!(first.len() > 100, "{}", first.len());
    assert_eq!(first, second);
    assert_ne!(first, other);
}

#[test]
fn it_can_begin_in_the_middle_and_stand_still() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path(), &["--start-at", "150", "--hold"]);
    demo.await_root_cause(Some(("Harbour Bank", "down")));
    demo.stop("TERM");
}

#[test]
fn neither_a_file_nor_the_environment_reaches_it_and_it_touches_no_data() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mainstay.toml"), "colour = 'red'\n").unwrap();
    let mut command = command(folder.path(), &[]);
    command.env("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none");
    command.env("MAINSTAY_LISTEN", "0.0.0.0:1").env("MAINSTAY_NONSENSE", "x");
    let demo = Demo::spawn(command);
    assert!(demo.address.starts_with("127.0.0.1:"), "{}", demo.address);
    demo.stop("TERM");
    assert_eq!(left_in(folder.path()), ["mainstay.toml"]);
}

#[test]
fn what_others_could_reach_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7400"] {
        let done = command(folder.path(), &["--listen", address]).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("loopback") && said.contains(address), "{said}");
    }
    assert_eq!(left_in(folder.path()), Vec::<String>::new());
}

#[test]
fn what_a_killed_one_leaves_is_swept_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let killed = Demo::spawn(command(folder.path(), &["--hold"]));
    send_signal(killed.child.id(), "KILL");
    drop(killed);
    let left = left_in(folder.path());
    assert!(matches!(left.as_slice(), [only] if only.starts_with("mainstay-demo-")), "{left:?}");
    let next = Demo::spawn(command(folder.path(), &["--hold"]));
    assert!(!folder.path().join(&left[0]).exists());
    next.stop("TERM");
    assert_eq!(left_in(folder.path()), Vec::<String>::new());
}

#[test]
fn a_stranger_finds_a_report_of_the_companys_own_incident() {
    let folder = tempfile::tempdir().unwrap();
    let demo = Demo::start(folder.path(), &["--hold"]);
    let began = Instant::now();
    let file = loop {
        let file = demo.get("/api/files")["items"][0].clone();
        if file["status"] == "succeeded" {
            break file;
        }
        assert!(began.elapsed() < PATIENCE, "{file}");
        std::thread::sleep(Duration::from_millis(50));
    };
    let report = demo.get(&format!("/api/files/{}/report", file["id"].as_str().unwrap()));
    assert!(report["report"]["root_causes"][0]["evidence"][0]["quote"].is_string(), "{report}");
    let recorded = report["recorded_timeline"]["entries"].as_array().unwrap();
    let tells =
        |words: &str| recorded.iter().any(|entry| entry["what"].as_str().unwrap().contains(words));
    assert!(tells("service Orders became"), "{recorded:#?}");
    assert!(tells("root cause then: PostgreSQL main (hurts 11 services)"), "{recorded:#?}");
    assert_eq!(file["title"], report["report"]["title"]);
    assert!(file["title"].as_str().unwrap().starts_with("PostgreSQL main ran out"), "{file}");
    let time = |value: &Value| serde_json::from_value::<Timestamp>(value.clone()).unwrap();
    for told in report["report"]["timeline"].as_array().unwrap() {
        let near = |entry: &Value| {
            let recorded = time(&entry["at"]);
            recorded.since(time(&told["at"])) < Duration::from_secs(60)
                && recorded >= time(&told["at"])
        };
        assert!(recorded.iter().any(near), "nothing was recorded then: {told}");
    }
    demo.stop("TERM");
}
