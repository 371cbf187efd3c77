//! What keeps it from starting is told in one sentence that says what to do, with exit code 2.

use std::path::Path;

use crate::process::{Server, database_file, run, run_well};

/// Starting must fail with one line that holds all of `words`.
fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let (code, out, error) = run(folder, arguments);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}: {error}");
    let told: Vec<&str> = error.lines().filter(|line| line.starts_with("mainstay: ")).collect();
    assert_eq!(told.len(), 1, "{error}");
    for word in words {
        assert!(told[0].contains(word), "{word} is not in: {}", told[0]);
    }
    assert!(!error.contains("panicked") && !error.contains("stack backtrace"), "{error}");
}

#[test]
fn a_port_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(folder.path(), &["serve", "--listen", &address], &[&address, "--listen"]);
    assert!(!folder.path().join("mainstay-data").exists(), "nothing was made");
}

#[test]
fn a_data_folder_that_cannot_be_made() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", "file/data"];
    refused(folder.path(), &arguments, &["file/data", "--data-dir"]);
}

#[cfg(unix)]
#[test]
fn a_data_folder_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(data.join("probe"), "").is_ok() {
        // Rights do not bind this user (root); a lock file that is a folder refuses everybody.
        std::fs::create_dir(data.join("mainstay.db.lock")).unwrap();
    }
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", "data"];
    refused(folder.path(), &arguments, &["data/mainstay.db", "may write"]);
}

#[test]
fn an_address_with_a_password_is_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    for (flag, value) in [
        ("--public-url", "https://u:hunter2@h"),
        ("--database", "postgres://u@h/d?pasword=hunter2"),
    ] {
        let arguments = ["serve", "--listen", "127.0.0.1:0", flag, value];
        refused(folder.path(), &arguments, &[flag, "the value"]);
        let (_, _, error) = run(folder.path(), &arguments);
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn an_unreachable_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = "postgres://anna:hunter2@127.0.0.1:1/ledger";
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["migrate", "up"]] {
        let arguments: Vec<&str> =
            command.iter().copied().chain(["--database", database]).collect();
        refused(folder.path(), &arguments, &["127.0.0.1:1/ledger", "check that it runs"]);
        let (_, _, error) = run(folder.path(), &arguments);
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn a_certificate_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let tls = ["serve", "--listen", "127.0.0.1:0", "--tls-cert", "no.pem", "--tls-key", "no.pem"];
    refused(folder.path(), &tls, &["no.pem"]);
}

#[test]
fn a_second_server_on_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start(folder.path());
    let process = format!("(process {})", first.id());
    refused(folder.path(), &["serve", "--listen", "127.0.0.1:0"], &[&process]);
    refused(folder.path(), &["migrate", "down"], &[&process]);
    first.stop();
}

#[test]
fn a_file_that_is_no_database_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let notes = "somebody's notes\n".repeat(500);
    std::fs::write(folder.path().join("notes"), &notes).unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--database", "sqlite:notes"];
    refused(folder.path(), &arguments, &["notes", "not a Mainstay database"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("notes")).unwrap(), notes);
}

#[test]
fn a_backup_or_restore_that_cannot_be() {
    let folder = tempfile::tempdir().unwrap();
    refused(folder.path(), &["backup", "copy.db"], &["mainstay.db", "is not there"]);
    refused(folder.path(), &["restore", "copy.db"], &["copy.db", "is not there"]);
    let postgres = ["--database", "postgres://u:p@127.0.0.1:1/d"];
    refused(folder.path(), &["backup", "copy.db", postgres[0], postgres[1]], &["pg_dump"]);
    refused(folder.path(), &["restore", "copy.db", postgres[0], postgres[1]], &["pg_restore"]);
    run_well(folder.path(), &["migrate", "up"]);
    std::fs::write(folder.path().join("copy.db"), "mine").unwrap();
    refused(folder.path(), &["backup", "copy.db"], &["copy.db exists already"]);
    assert!(database_file(folder.path()).exists());
}
