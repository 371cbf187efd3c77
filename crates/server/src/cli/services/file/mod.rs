//! A file that says what is wanted: `shape` is what it may hold, `header` where a value comes from,
//! `problem` what is wrong with it.

mod header;
mod problem;
mod shape;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use mainstay_monitor::desired::{DesiredError, Document, MAX_DOCUMENT_BYTES};
use mainstay_yaml::{Finder, Step, shown};

use super::client::Refused;
use crate::config::environment::Variables;
use header::Values;
use shape::LIMITS;

/// A file and its text.
pub(super) struct DocumentFile {
    /// As errors name it.
    name: String,
    /// Where the files stand that it names.
    folder: PathBuf,
    text: String,
}

impl DocumentFile {
    /// Reads a file; `-` is standard input.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let folder = path.parent().filter(|_| !is_stdin).map(Path::to_path_buf).unwrap_or_default();
        let bytes =
            if is_stdin { bounded(io::stdin().lock()) } else { File::open(path).and_then(bounded) };
        let bytes = bytes.with_context(|| format!("{name} can't be read; check the path"))?;
        anyhow::ensure!(
            bytes.len() <= MAX_DOCUMENT_BYTES,
            "{name} is longer than {MAX_DOCUMENT_BYTES} bytes; split it"
        );
        let text = String::from_utf8(bytes);
        let text = text.ok().with_context(|| format!("{name} is not UTF-8; save it as such"))?;
        Ok(Self { name, folder, text })
    }

    /// What it says, with every value of a header that it gives.
    pub(super) fn document(&self, variables: &Variables) -> anyhow::Result<Document> {
        let shape = shape::parse(&self.text)
            .map_err(|unread| self.problem(unread.place, &problem::told(&unread)))?;
        let values = Values { variables, folder: &self.folder };
        shape.document(&values).map_err(|(path, reason)| {
            self.problem(self.find(&path), &format!("{}: {reason}", shown(&path)))
        })
    }

    /// What does not hold, with its place.
    pub(super) fn refused(&self, error: &DesiredError) -> anyhow::Error {
        let path = match error {
            DesiredError::Refused { item, reason } => path_of(&item.path(), reason.field()),
            DesiredError::Version { .. } => vec![Step::Key("version".to_owned())],
            _ => Vec::new(),
        };
        self.problem(self.find(&path), &error.to_string())
    }

    /// What the server refused, with its place where it names an item.
    pub(super) fn told_by_server(&self, refused: &Refused) -> String {
        let Some(item) = &refused.item else { return refused.detail.clone() };
        let path = path_of(item, refused.field.as_deref());
        let place = self.find(&path);
        format!("{}{}", self.at(place), refused.detail)
    }

    fn find(&self, path: &[Step]) -> Option<(u64, u64)> {
        Finder::new(&self.text, LIMITS).find(path)
    }

    fn problem(&self, place: Option<(u64, u64)>, message: &str) -> anyhow::Error {
        anyhow::anyhow!("{}{message}", self.at(place))
    }

    fn at(&self, place: Option<(u64, u64)>) -> String {
        let name = &self.name;
        place.map_or_else(
            || format!("{name}: "),
            |(line, column)| format!("{name}:{line}:{column}: "),
        )
    }
}

/// One byte more than there may be tells that there are too many.
fn bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let most = u64::try_from(MAX_DOCUMENT_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    source.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The way to a field of an item such as `services[3]`.
fn path_of(item: &str, field: Option<&str>) -> Vec<Step> {
    let (section, index) = item.split_once('[').unwrap_or((item, ""));
    let index = index.trim_end_matches(']').parse().ok().map(Step::Index);
    let field = field.map(|field| Step::Key(field.to_owned()));
    [Step::Key(section.to_owned())].into_iter().chain(index).chain(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainstay_monitor::desired::Wanted;
    use mainstay_yaml::Limits;

    const GOOD: &str = "\
version: 1
services:
  - name: Orders
    health_endpoint: https://orders.example.org/health
    poll_interval_ms: 60000
    headers:
      X-Kept: null
      X-Text: \"hunter2\"
      X-Variable: {from_environment: KEY}
      X-File:
        from_file: key.txt
  - name: Shop
    health_endpoint: https://shop.example.org/health
aliases:
  - {alias: orders-db, canonical_name: Orders database}
links:
  - service: Shop
    dependency: orders-api
    links_to: Orders
";

    fn file(text: &str, folder: &Path) -> DocumentFile {
        let (name, text) = ("services.yaml".to_owned(), text.to_owned());
        DocumentFile { name, folder: folder.to_path_buf(), text }
    }

    fn read(text: &str) -> Result<Document, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key.txt"), "hunter4\n").unwrap();
        let file = file(text, folder.path());
        let document = file.document(&vec![("KEY".into(), "hunter3".into())]);
        let document = document.map_err(|error| error.to_string())?;
        Wanted::check(document.clone()).map_err(|error| file.refused(&error).to_string())?;
        Ok(document)
    }

    #[test]
    fn values_of_headers_come_from_where_the_file_says() {
        let document = read(GOOD).unwrap();
        assert_eq!((document.services.len(), document.links.len()), (2, 1));
        let values: Vec<_> = document.services[0]
            .headers
            .iter()
            .map(|(name, text)| (name.as_str(), text.0.as_ref().map(|text| text.expose().as_str())))
            .collect();
        assert_eq!(
            values,
            [
                ("X-File", Some("hunter4")),
                ("X-Kept", None),
                ("X-Text", Some("hunter2")),
                ("X-Variable", Some("hunter3")),
            ]
        );
    }

    #[test]
    fn parts_may_be_missing_or_empty() {
        for text in ["version: 1", "version: 1\nservices:\naliases: []\nlinks: null\n"] {
            let document = read(text).unwrap();
            assert!(document.services.is_empty() && document.links.is_empty());
        }
    }

    #[test]
    fn a_mistake_is_told_with_its_line_its_column_its_path_and_the_nearest_name() {
        for (from, to, says) in [
            (
                "poll_interval_ms: 60000",
                "poll_intervall_ms: 60000",
                "services.yaml:5:5: services[0].poll_intervall_ms: there is no such key; did you mean poll_interval_ms?",
            ),
            (
                "poll_interval_ms: 60000",
                "poll_interval_ms: often",
                "services.yaml:5:23: services[0].poll_interval_ms: ",
            ),
            (
                "poll_interval_ms: 60000",
                "poll_interval_ms: 10",
                "services.yaml:5:23: services[0] \"Orders\": `poll_interval_ms` is 10; give from 5000",
            ),
            (
                "name: Shop",
                "name: \" orders\"",
                "services.yaml:12:5: services[1] \"orders\": it is the same as services[0]",
            ),
            ("  - name: Shop\n    health", "  - health", "services[1]: `name` is missing"),
            (
                "aliases:",
                "aliass:",
                "services.yaml:14:1: aliass: there is no such key; did you mean aliases?",
            ),
            (
                "canonical_name: Orders database",
                "canonical: Orders database",
                "aliases[0].canonical: there is no such key",
            ),
            (
                "links_to: Orders",
                "links_to: Shop",
                "services.yaml:19:15: links[0] \"orders-api\": `links_to`",
            ),
            ("version: 1", "version: 7", "services.yaml:1:10: `version` is 7"),
            ("version: 1", "# nothing", "`version` is missing"),
            ("X-Text: \"hunter2\"", "X-Text: [hunter2]", "services[0].headers.X-Text: expected"),
            ("X-Text: \"hunter2\"", "X-Text: 70707", "services[0].headers.X-Text: expected"),
            ("X-Text: \"hunter2\"", "Host: \"hunter2\"", "services[0] \"Orders\": `headers` are"),
            (
                "{from_environment: KEY}",
                "{from_environment: KEI}",
                "services.yaml:9:19: services[0].headers.X-Variable: the variable KEI is not set",
            ),
            (
                "{from_environment: KEY}",
                "{from_enviroment: KEY}",
                "services[0].headers.X-Variable.from_enviroment: there is no such key; did you mean from_environment?",
            ),
            (
                "from_file: key.txt",
                "from_file: none.txt",
                "services[0].headers.X-File: none.txt can't be read",
            ),
            ("name: Orders\n", "name: Orders\n    name: Orders\n", "services.yaml:4:5: "),
            ("version: 1", "version: 1\n\t- x", "not valid YAML"),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD, "{from}");
            let told = read(&text).unwrap_err();
            assert!(told.contains(says), "{to}\n  told: {told}\n  says: {says}");
            assert!(!told.contains("hunter") && !told.contains("70707"), "{told}");
            assert!(told.starts_with("services.yaml"), "{told}");
        }
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for text in ["", "---\n", "[]", "just text", "version: 1\n---\nversion: 1\n", "a: &a [*a]"]
        {
            assert!(read(text).unwrap_err().starts_with("services.yaml"), "{text}");
        }
    }

    const TOO_LARGE: &str = "too large or too deep";

    fn with_config(config: &str) -> String {
        format!(
            "version: 1\nservices:\n- name: a\n  health_endpoint: http://a.example\n  schema_config:\n{config}"
        )
    }

    /// Each level stands for ten of the one below it.
    #[test]
    fn a_bomb_of_anchors_is_refused() {
        let mut config = "    a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for level in 1..7 {
            let below = vec![format!("*a{}", level - 1); 10].join(",");
            config.push_str(&format!("    a{level}: &a{level} [{below}]\n"));
        }
        let text = with_config(&config);
        // As many as a test has time for.
        let limits = Limits { replayed: 10_000, ..LIMITS };
        let told = problem::told(&mainstay_yaml::read::<shape::Shape>(&text, limits).unwrap_err());
        assert!(told.contains(TOO_LARGE), "{told}");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let nested = |depth: usize| {
            with_config(&format!("    a: {}{}\n", "[".repeat(depth), "]".repeat(depth)))
        };
        shape::parse(&nested(20)).unwrap();
        for (depth, says) in [(70, TOO_LARGE), (5_000, "recursion limit exceeded")] {
            let told = problem::told(&shape::parse(&nested(depth)).unwrap_err());
            assert!(told.contains(says), "{told}");
        }
    }

    #[test]
    fn many_services_share_one_anchor() {
        let mut text = "version: 1\nservices:\n".to_owned();
        for n in 0..500 {
            let headers = if n == 0 { "&shared {X-Key: \"hunter2\"}" } else { "*shared" };
            text.push_str(&format!(
                "- {{name: s{n}, health_endpoint: 'http://a.example', headers: {headers}}}\n"
            ));
        }
        let document = read(&text).unwrap();
        assert!(document.services.iter().all(|one| one.headers.len() == 1));
    }

    #[test]
    fn a_file_is_read_as_editors_and_systems_write_it() {
        let plain = format!("{:?}", read(GOOD).unwrap());
        for text in [format!("\u{feff}{GOOD}"), GOOD.replace('\n', "\r\n")] {
            assert_eq!(format!("{:?}", read(&text).unwrap()), plain);
        }
        let merged = "version: 1\nservices:\n- &base {name: Ünïcode 日本, health_endpoint: 'http://a.example', team: Web}\n- {<<: *base, name: b}\n";
        let document = read(merged).unwrap();
        assert_eq!(document.services[0].name, "Ünïcode 日本");
        assert_eq!(document.services[1].team.as_deref(), Some("Web"));
        for name in ["yes", "on", "!!str 123"] {
            let document = read(
                &GOOD
                    .replace("name: Shop", &format!("name: {name}"))
                    .replace("service: Shop", "service: Orders")
                    .replace("links_to: Orders", &format!("links_to: {name}")),
            );
            assert!(document.is_ok(), "{name}: {document:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_no_name_and_yes_is_not_true() {
        for (from, to, path) in [
            ("name: Shop", "name: [Shop]", "services[1].name"),
            ("name: Shop", "name: Shop\n    is_active: yes", "services[1].is_active"),
            ("name: Shop", "name: Shop\n\tteam: Web", "services.yaml"),
            ("name: Shop", "name: Shop\n    team: Web\n    team: Web", "services.yaml"),
            ("X-Text: \"hunter2\"", "X-Text: hunter2\n      X-Text: hunter2", "services.yaml"),
        ] {
            let told = read(&GOOD.replace(from, to)).unwrap_err();
            assert!(told.contains(path) && !told.contains("hunter"), "{to}: {told}");
        }
    }

    #[test]
    fn what_a_server_refuses_has_its_place_too() {
        let file = file(GOOD, Path::new(""));
        let refused = Refused {
            detail: "services[1] \"Shop\": no.".to_owned(),
            item: Some("services[1]".to_owned()),
            field: Some("health_endpoint".to_owned()),
        };
        assert_eq!(file.told_by_server(&refused), "services.yaml:13:22: services[1] \"Shop\": no.");
        let refused = Refused { item: None, field: None, detail: "No.".to_owned() };
        assert_eq!(file.told_by_server(&refused), "No.");
    }
}
