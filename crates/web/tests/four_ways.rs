//! The four ways a build can go, with a machine that is made up: a folder as `PATH`, with a `node`
//! and an `npm` in it that are shell scripts. That the real ones work is shown by `embedded.rs`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails it by panicking")]

#[path = "../build/mod.rs"]
mod builder;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use builder::{BuildError, Built, Input, Missing};
use tempfile::TempDir;

const GOOD_NODE: &str = "echo v22.12.0";
const GOOD_NPM: &str = r#"echo "$*" >> calls
case "$1" in
  ci) mkdir -p node_modules ;;
  run) mkdir -p dist/assets
    test -f "$MAINSTAY_OPENAPI" || exit 1
    echo '<script src="/assets/index-abc.js"></script>' > dist/index.html
    echo 'go()' > dist/assets/index-abc.js
    echo 'br' > dist/assets/index-abc.js.br ;;
esac"#;

/// A script cannot be run while another thread's fresh child still holds it open for writing.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Machine {
    root: TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    fn new() -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let root = TempDir::new().unwrap();
        for folder in ["bin", "ui/src", "ui/node_modules", "out"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in ["ui/package.json", "ui/package-lock.json", "ui/src/main.ts", "openapi.json"] {
            fs::write(root.path().join(file), "{}").unwrap();
        }
        Self { root, _alone: alone }
    }

    fn with(self, name: &str, script: &str) -> Self {
        let path = self.root.path().join("bin").join(name);
        // Absolute, so that the scripts run although PATH is only their own folder.
        let text = format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    fn build(&self, required: bool) -> Result<Built, BuildError> {
        builder::build(&Input {
            ui: self.path("ui"),
            snapshot: self.path("openapi.json"),
            out: self.path("out"),
            search_path: self.path("bin").into_os_string(),
            required,
        })
    }

    fn table(&self) -> String {
        fs::read_to_string(self.path("out/assets.rs")).unwrap()
    }
}

fn calls(machine: &Machine) -> String {
    fs::read_to_string(machine.path("out/ui/calls")).unwrap()
}

#[test]
fn with_node_the_dashboard_is_built_and_its_files_stand_in_the_table() {
    let machine = Machine::new().with("node", GOOD_NODE).with("npm", GOOD_NPM);
    let built = machine.build(true).unwrap();
    assert_eq!(built.missing, None);
    let table = machine.table();
    assert!(table.contains("BUILT: bool = true"), "{table}");
    assert!(table.contains(r#"path: "/assets/index-abc.js""#), "{table}");
    assert!(table.contains("index-abc.js.br"), "{table}");
    assert!(!table.contains(r#"path: "/assets/index-abc.js.br""#), "{table}");
    assert!(calls(&machine).starts_with("ci "), "{}", calls(&machine));
}

#[test]
fn packages_are_installed_again_only_when_the_lock_file_changed() {
    let machine = Machine::new().with("node", GOOD_NODE).with("npm", GOOD_NPM);
    machine.build(false).unwrap();
    machine.build(false).unwrap();
    assert_eq!(calls(&machine), "run build\n");
    fs::write(machine.path("ui/package-lock.json"), "{ }").unwrap();
    machine.build(false).unwrap();
    assert!(calls(&machine).starts_with("ci "), "{}", calls(&machine));
}

#[test]
fn a_file_that_left_the_sources_leaves_the_copy() {
    let machine = Machine::new().with("node", GOOD_NODE).with("npm", GOOD_NPM);
    fs::write(machine.path("ui/src/old.ts"), "").unwrap();
    machine.build(false).unwrap();
    fs::remove_file(machine.path("ui/src/old.ts")).unwrap();
    machine.build(false).unwrap();
    assert!(!machine.path("out/ui/src/old.ts").exists());
    assert!(machine.path("out/ui/src/main.ts").exists());
}

#[test]
fn without_node_the_page_names_the_cause_and_the_cure() {
    let machine = Machine::new();
    let built = machine.build(false).unwrap();
    assert_eq!(built.missing, Some(Missing::Node));
    let page = fs::read_to_string(machine.path("out/page/index.html")).unwrap();
    assert!(page.contains("there is no Node on PATH"), "{page}");
    assert!(page.contains("Install Node 20.19 or newer"), "{page}");
    assert!(!page.contains("<script") && !page.contains("style="), "{page}");
    assert!(machine.table().contains("BUILT: bool = false"));
}

#[test]
fn an_old_node_and_a_lonely_node_are_named() {
    let old = Machine::new().with("node", "echo v18.20.4").with("npm", GOOD_NPM);
    assert_eq!(old.build(false).unwrap().missing, Some(Missing::TooOld("18.20.4".to_owned())));
    drop(old);
    let lonely = Machine::new().with("node", GOOD_NODE);
    assert_eq!(lonely.build(false).unwrap().missing, Some(Missing::Npm));
    drop(lonely);
    let broken = Machine::new().with("node", "exit 1").with("npm", GOOD_NPM);
    let path = broken.path("bin/node");
    assert_eq!(broken.build(false).unwrap().missing, Some(Missing::Answer(path)));
}

#[test]
fn required_and_without_node_the_build_fails_with_one_sentence_and_the_cure() {
    let error = Machine::new().build(true).unwrap_err().to_string();
    assert_eq!(
        error,
        "MAINSTAY_UI_REQUIRED is set and there is no Node on PATH. \
         Install Node 20.19 or newer with npm, and build Mainstay again."
    );
    let old = Machine::new().with("node", "echo v18.20.4").with("npm", GOOD_NPM);
    let error = old.build(true).unwrap_err().to_string();
    assert!(error.contains("the Node on PATH is 18.20.4"), "{error}");
}

#[test]
fn a_failing_npm_is_always_an_error_that_shows_its_last_lines() {
    let script = "i=1; while [ $i -le 30 ]; do echo line $i; i=$((i+1)); done; \
                  echo 'npm error broken' >&2; exit 1";
    let machine = Machine::new().with("node", GOOD_NODE).with("npm", script);
    for required in [false, true] {
        let error = machine.build(required).unwrap_err().to_string();
        assert!(error.contains("`npm ci --omit=dev"), "{error}");
        assert!(error.contains("npm error broken"), "{error}");
        assert!(error.contains("line 30") && !error.contains("line 11\n"), "{error}");
    }
}

#[test]
fn a_failed_installation_is_not_taken_for_a_finished_one() {
    let script = "case \"$1\" in ci) mkdir -p node_modules; exit 1 ;; esac";
    let machine = Machine::new().with("node", GOOD_NODE).with("npm", script);
    machine.build(false).unwrap_err();
    let machine = machine.with("npm", GOOD_NPM);
    machine.build(false).unwrap();
    assert!(calls(&machine).starts_with("ci "), "{}", calls(&machine));
}

#[test]
fn a_build_that_leaves_no_page_is_an_error() {
    let machine = Machine::new().with("node", GOOD_NODE).with("npm", "mkdir -p node_modules dist");
    let error = machine.build(false).unwrap_err();
    assert!(matches!(error, BuildError::NoIndex(_)), "{error}");
}

#[test]
fn cargo_watches_the_sources_and_path_only_while_node_is_missing() {
    let watches = |built: &Built, path: &Path| {
        built.cargo_lines().contains(&format!("cargo:rerun-if-changed={}", path.display()))
    };
    let with = Machine::new().with("node", GOOD_NODE).with("npm", GOOD_NPM);
    let built = with.build(false).unwrap();
    assert!(watches(&built, &with.path("ui/src/main.ts")));
    assert!(watches(&built, &with.path("openapi.json")));
    assert!(watches(&built, &with.path("bin/node")));
    assert!(!watches(&built, &with.path("ui/node_modules")));
    assert!(!built.cargo_lines().join("\n").contains("PATH"));
    drop(with);

    let without = Machine::new();
    let built = without.build(false).unwrap();
    assert!(watches(&built, &without.path("bin")));
    assert!(built.cargo_lines().contains(&"cargo:rerun-if-env-changed=PATH".to_owned()));
}

#[test]
fn the_variable_is_off_when_unset_empty_or_zero() {
    let required = |value: &str| builder::is_required(Some(value.as_ref()));
    assert!(!builder::is_required(None));
    assert!(!required("") && !required("0"));
    assert!(required("1") && required("true"));
}
