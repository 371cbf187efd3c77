#![cfg(test)]
//! The table of TESTS.md names only tests that there are.

use std::fs;
use std::path::Path;

#[test]
fn every_test_that_the_table_names_is_there() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(home.join("TESTS.md")).unwrap();
    let tests = fs::read_dir(home.join("tests")).unwrap().map(|entry| entry.unwrap().path());
    let files = tests.filter(|path| path.is_file()).chain([home.join("src/required.rs")]);
    let code: String = files.map(|path| fs::read_to_string(path).unwrap()).collect();
    let named: Vec<&str> =
        table.split('`').skip(1).step_by(2).filter(|word| word.matches('_').count() > 2).collect();
    assert!(named.len() > 50, "{}", named.len());
    for name in named {
        assert!(code.contains(&format!("fn {name}(")), "there is no test {name}");
    }
}
