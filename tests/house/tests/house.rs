//! The invariants of ARCHITECTURE.md, held against the repository as it is.
#![cfg(test)]

use cargo_metadata::{DependencyKind, MetadataCommand};
use mainstay_house_tests::arrows::{self, Crate};
use mainstay_house_tests::{docs, names, source};

/// A file longer than this hides a second room.
const MAX_LINES: usize = 500;

fn crates() -> Vec<Crate> {
    let manifest = source::root().join("Cargo.toml");
    let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec().unwrap();
    let in_house =
        |package: &&cargo_metadata::Package| metadata.workspace_members.contains(&package.id);
    let name = |package: &cargo_metadata::Package| Crate {
        name: package.name.to_string(),
        dependencies: package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind == DependencyKind::Normal)
            .map(|dependency| dependency.name.clone())
            .collect(),
    };
    metadata.packages.iter().filter(in_house).map(name).collect()
}

fn none(broken: &[String]) {
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn the_arrows_between_crates_point_one_way() {
    none(&arrows::broken(&crates()));
}

#[test]
fn every_name_stands_in_its_room() {
    let files = source::files(".rs").unwrap();
    assert!(files.len() > 30, "the source was not found");
    none(&names::misplaced(&files));
}

#[test]
fn no_file_hides_a_second_room() {
    let long: Vec<String> = [".rs", ".ts", ".svelte"]
        .iter()
        .flat_map(|suffix| source::files(suffix).unwrap())
        .filter(|file| file.text.lines().count() > MAX_LINES)
        .map(|file| format!("{} has more than {MAX_LINES} lines: split it", file.path))
        .collect();
    none(&long);
}

/// `cargo run` hands on what a build script sets, and whatever begins with `MAINSTAY_` has to be a setting.
#[test]
fn what_a_build_script_sets_is_not_taken_for_a_setting() {
    let scripts = source::files("build.rs").unwrap();
    assert!(!scripts.is_empty(), "the scripts were not found");
    let taken = concat!("rustc-env=", "MAINSTAY_");
    let broken = scripts.iter().filter(|file| file.text.contains(taken));
    none(
        &broken.map(|file| format!("{} sets a MAINSTAY_ variable", file.path)).collect::<Vec<_>>(),
    );
}

#[test]
fn rules_and_dashboards_name_metrics_that_there_are() {
    let sources = source::files(".rs").unwrap();
    let documents: Vec<_> = [".yml", ".json"]
        .iter()
        .flat_map(|suffix| source::files(suffix).unwrap())
        .filter(|file| file.path.starts_with("docs/monitoring/"))
        .collect();
    assert_eq!(documents.len(), 2, "the documents were not found");
    let untold = documents.iter().flat_map(|file| docs::untold_metrics(file, &sources));
    none(&untold.collect::<Vec<_>>());
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    none(&docs::broken_links(&source::root(), &source::files(".md").unwrap()));
}

#[test]
fn the_map_names_every_crate() {
    let map = std::fs::read_to_string(source::root().join("ARCHITECTURE.md")).unwrap();
    let folders: Vec<String> = std::fs::read_dir(source::root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    assert_eq!(docs::unmapped(&map, &folders), Vec::<&str>::new());
}
