//! The guide documents exactly the settings there are.

use std::path::Path;

use mainstay::config::{SETTINGS, Setting};

const START: &str = "<!-- settings -->\n";
const END: &str = "<!-- /settings -->";

fn code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn row(setting: &Setting) -> String {
    let flag: Vec<_> = setting.flag.into_iter().collect();
    let default: Vec<_> =
        Some(setting.fallback.shown()).filter(|text| !text.is_empty()).into_iter().collect();
    format!(
        "| `{}` | {} | {} | {} | {} |\n",
        setting.key,
        code(setting.variables),
        code(&flag),
        code(&default),
        setting.help
    )
}

#[test]
fn the_table_lists_every_setting() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/configuration.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let (_, rest) = guide.split_once(START).unwrap();
    let (table, _) = rest.split_once(END).unwrap();
    let head =
        "| Key in the file | Environment | Flag | Default | Meaning |\n|---|---|---|---|---|\n";
    let rows: String = SETTINGS.iter().map(|setting| row(setting)).collect();
    let expected = format!("{head}{rows}");
    assert_eq!(table, expected, "write this into docs/guide/configuration.md:\n{expected}");
}

/// Every `toml` block of the guide is a configuration that Mainstay takes.
#[test]
fn the_examples_are_valid() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/configuration.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let blocks: Vec<_> = guide.split("```toml\n").skip(1).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let text = block.split("```").next().unwrap().to_owned();
        let file = mainstay::config::file::FileText { path: "guide".to_owned(), text };
        let input = mainstay::config::Input {
            flags: Vec::new(),
            variables: Vec::new(),
            file: Ok(Some(file)),
        };
        if let Err(error) = mainstay::config::load(input) {
            panic!("{error}");
        }
    }
}
