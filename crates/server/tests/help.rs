//! The help texts are a public surface: a change shows up here.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails by panicking")]

use clap::{Command, CommandFactory as _};
use mainstay::cli::Cli;
use mainstay::config::SETTINGS;

fn help(path: &[&str]) -> String {
    // The width would be that of the terminal.
    let command = Cli::command().term_width(100);
    let arguments = ["mainstay"].iter().chain(path).chain(&["--help"]);
    command.try_get_matches_from(arguments).unwrap_err().to_string()
}

fn paths(command: &Command, path: &[String], found: &mut Vec<Vec<String>>) {
    found.push(path.to_vec());
    for inner in command.get_subcommands() {
        paths(inner, &[path, &[inner.get_name().to_owned()]].concat(), found);
    }
}

fn all_paths() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    paths(&Cli::command(), &[], &mut found);
    found
}

#[test]
fn every_help_text_is_as_it_was() {
    insta::with_settings!({ prepend_module_to_snapshot => false }, {
        for path in all_paths() {
            let path: Vec<_> = path.iter().map(String::as_str).collect();
            let name = ["help"].iter().chain(&path).copied().collect::<Vec<_>>().join("-");
            insta::assert_snapshot!(name, help(&path));
        }
    });
}

#[test]
fn every_help_text_ends_with_examples_that_parse() {
    for path in all_paths() {
        let path: Vec<_> = path.iter().map(String::as_str).collect();
        let text = help(&path);
        let (_, examples) = text.split_once("Examples:\n").unwrap_or_else(|| panic!("{path:?}"));
        let lines = examples.lines().take_while(|line| line.starts_with("  mainstay"));
        let mut count = 0;
        for line in lines {
            // What stands after two spaces is a remark, and after `>` a file of the shell.
            let line = line.trim_start().split("  ").next().unwrap().split('>').next().unwrap();
            let parsed = Cli::command().try_get_matches_from(line.split_whitespace());
            assert!(parsed.is_ok(), "{line}: {:?}", parsed.err().map(|error| error.to_string()));
            count += 1;
        }
        assert!(count > 0, "{path:?}");
    }
}

#[test]
fn every_flag_of_a_setting_is_one_of_a_command_with_the_same_help() {
    let command = Cli::command();
    let find = |name: &&str| command.find_subcommand(name).unwrap();
    let services = find(&"services").get_subcommands();
    let commands: Vec<_> = ["serve", "work"].iter().map(find).chain(services).collect();
    for setting in SETTINGS {
        let Some(flag) = setting.flag else { continue };
        let name = flag.strip_prefix("--").unwrap();
        let arguments = commands.iter().flat_map(|command| command.get_arguments());
        let named = arguments.filter(|argument| argument.get_long() == Some(name));
        let helps: Vec<_> =
            named.map(|argument| argument.get_help().unwrap().to_string()).collect();
        assert!(helps.iter().any(|help| help == setting.help), "nobody takes {flag}: {helps:?}");
        // Both listen, each at an address of its own.
        let of_flag = |help: &String| {
            SETTINGS.iter().any(|other| other.flag == Some(flag) && other.help == help)
        };
        assert!(helps.iter().all(of_flag), "{flag}: {helps:?}");
    }
}

#[test]
fn the_definition_is_sound() {
    Cli::command().debug_assert();
}
