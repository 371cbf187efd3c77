//! The configuration file: found, read within a limit, and flattened to dotted keys with lines.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::problem::{Origin, Problem, Reason};

/// The variable that names the file, beside `--config`.
pub const CONFIG_VARIABLE: &str = "MAINSTAY_CONFIG";

/// The file that is read when none is named.
pub const DEFAULT_FILE: &str = "mainstay.toml";

/// The largest file that is read.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;

const NO_FILE: &str = "is a pipe or a device; name a regular file";

/// A configuration file as it was read.
#[derive(Debug, Clone)]
pub struct FileText {
    /// The path as it was given.
    pub path: String,
    /// What it holds.
    pub text: String,
}

/// One value of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The dotted key.
    pub key: String,
    /// Where the key stands.
    pub origin: Origin,
    /// What stands there.
    pub value: FileValue,
}

/// A value of the file, as text beside its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileValue {
    /// A string.
    Text(String),
    /// A whole number.
    Integer(String),
    /// `true` or `false`.
    Boolean(bool),
    /// An array that holds strings only.
    List(Vec<String>),
    /// Anything else, and a table without keys.
    Other,
}

/// Reads the file that the flag or the variable names, else `mainstay.toml` if there is one.
///
/// # Errors
/// A [`Problem`] when a named file is not there, or when any file can't be read.
pub fn find(
    flag: Option<&str>,
    variables: &[(OsString, OsString)],
    folder: &Path,
) -> Result<Option<FileText>, Problem> {
    let from_variable = variables
        .iter()
        .find(|(name, value)| name == CONFIG_VARIABLE && !value.is_empty())
        .map(|(_, value)| value.as_os_str());
    match flag.map(OsStr::new).or(from_variable) {
        Some(named) => read(&folder.join(named), named, true),
        None => read(&folder.join(DEFAULT_FILE), OsStr::new(DEFAULT_FILE), false),
    }
}

/// Every value of the file, in the order of its lines.
///
/// # Errors
/// A [`Problem`] with the line when the text is not TOML.
pub fn entries(file: &FileText) -> Result<Vec<Entry>, Problem> {
    let table = DeTable::parse(&file.text).map_err(|error| Problem::Syntax {
        origin: origin(file, error.span().map_or(0, |span| span.start)),
        message: error.message().to_owned(),
    })?;
    let mut found = Vec::new();
    flatten(file, "", table.get_ref(), &mut found);
    found.sort_by_key(|(position, _)| *position);
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}

fn read(path: &Path, given: &OsStr, required: bool) -> Result<Option<FileText>, Problem> {
    let given = given.to_string_lossy().into_owned();
    let problem = |reason: Reason| Problem::File { path: given.clone(), reason };
    // Looked at before it is opened: opening a pipe waits for somebody who writes to it.
    let opened = match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound && !required => return Ok(None),
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => return Err(problem(NO_FILE.into())),
        looked => looked.and_then(|_| File::open(path)),
    };
    let mut text = String::new();
    let read = opened.and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text));
    match read {
        Ok(bytes) if bytes as u64 > MAX_FILE_BYTES => {
            Err(problem(format!("is larger than {MAX_FILE_BYTES} bytes; shorten it").into()))
        }
        Ok(_) => Ok(Some(FileText { path: given, text })),
        Err(error) => Err(problem(unreadable(&error))),
    }
}

fn unreadable(error: &std::io::Error) -> Reason {
    match error.kind() {
        ErrorKind::NotFound => "is not there; check the path".into(),
        ErrorKind::PermissionDenied => "may not be read; give this user the right to".into(),
        ErrorKind::InvalidData => "is not UTF-8 text; save it as UTF-8".into(),
        ErrorKind::IsADirectory => "is a folder; name a file".into(),
        _ => format!("can't be read: {error}; check the path").into(),
    }
}

fn flatten(file: &FileText, prefix: &str, table: &DeTable<'_>, found: &mut Vec<(usize, Entry)>) {
    for (name, value) in table {
        let key = if prefix.is_empty() {
            name.get_ref().to_string()
        } else {
            format!("{prefix}.{}", name.get_ref())
        };
        match value.get_ref() {
            DeValue::Table(inner) if !inner.is_empty() => flatten(file, &key, inner, found),
            value => {
                let position = name.span().start;
                let entry = Entry { key, origin: origin(file, position), value: plain(value) };
                found.push((position, entry));
            }
        }
    }
}

fn plain(value: &DeValue<'_>) -> FileValue {
    match value {
        DeValue::String(text) => FileValue::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(FileValue::Other, |number| FileValue::Integer(number.to_string())),
        DeValue::Boolean(truth) => FileValue::Boolean(*truth),
        DeValue::Array(items) => texts(items).map_or(FileValue::Other, FileValue::List),
        _ => FileValue::Other,
    }
}

fn texts(items: &DeArray<'_>) -> Option<Vec<String>> {
    items.iter().map(|item: &Spanned<_>| Some(item.get_ref().as_str()?.to_owned())).collect()
}

fn origin(file: &FileText, position: usize) -> Origin {
    let before = file.text.bytes().take(position);
    Origin::File { path: file.path.clone(), line: 1 + before.filter(|byte| *byte == b'\n').count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> FileText {
        FileText { path: DEFAULT_FILE.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn tables_dotted_keys_and_inline_tables_are_the_same_thing() {
        for text in ["[http]\nlisten = 'a:1'", "http.listen = \"a:1\"", "http = {listen = 'a:1'}"] {
            let found = entries(&file(text)).unwrap();
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].key, "http.listen", "{text}");
            assert_eq!(found[0].value, FileValue::Text("a:1".to_owned()), "{text}");
        }
    }

    #[test]
    fn each_value_has_its_line_and_type() {
        let found = entries(&file("a = 0x10\nb = true\n\nc = ['x', 'y']\nd = 1.5\n[e]\n")).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|entry| (entry.key.as_str(), entry.origin.to_string(), entry.value.clone()))
            .collect();
        let at = |line: usize| format!("mainstay.toml:{line}");
        assert_eq!(
            shown,
            [
                ("a", at(1), FileValue::Integer("16".to_owned())),
                ("b", at(2), FileValue::Boolean(true)),
                ("c", at(4), FileValue::List(vec!["x".to_owned(), "y".to_owned()])),
                ("d", at(5), FileValue::Other),
                ("e", at(6), FileValue::Other),
            ]
        );
    }

    #[test]
    fn a_syntax_error_names_the_line_and_not_its_text() {
        for text in [
            "\n\ndatabase.url = \"postgres://u:hunter2@h/d\n",
            "a = 1\nb = 2\nurl = postgres://u:hunter2@h/d",
            "a = 1\nb = 2\nhunter2",
        ] {
            let message = entries(&file(text)).unwrap_err().to_string();
            assert!(message.starts_with("mainstay.toml:3: not valid TOML"), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn a_named_file_must_exist_and_the_default_one_need_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(find(None, &[], folder.path()).unwrap().is_none());
        let named = find(Some("other.toml"), &[], folder.path()).unwrap_err().to_string();
        assert!(named.contains("\"other.toml\" is not there"), "{named}");

        std::fs::write(folder.path().join(DEFAULT_FILE), "a = 1").unwrap();
        std::fs::write(folder.path().join("flag.toml"), "b = 1").unwrap();
        let variables = [(CONFIG_VARIABLE.into(), "missing.toml".into())];
        assert_eq!(find(None, &[], folder.path()).unwrap().unwrap().text, "a = 1");
        assert!(find(None, &variables, folder.path()).is_err());
        let flagged = find(Some("flag.toml"), &variables, folder.path()).unwrap().unwrap();
        assert_eq!(flagged.text, "b = 1");
        let empty = [(CONFIG_VARIABLE.into(), "".into())];
        assert_eq!(find(None, &empty, folder.path()).unwrap().unwrap().text, "a = 1");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_refused_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join(DEFAULT_FILE);
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for flag in [None, Some(DEFAULT_FILE)] {
            let refused = find(flag, &[], folder.path()).unwrap_err().to_string();
            assert!(refused.contains("name a regular file"), "{refused}");
        }
    }

    #[test]
    fn what_is_too_large_or_no_text_or_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::write(path.join("large"), vec![b'#'; 256 * 1024 + 1]).unwrap();
        std::fs::write(path.join("fits"), vec![b'#'; 256 * 1024]).unwrap();
        std::fs::write(path.join("bytes"), [0xff, 0xfe]).unwrap();
        std::fs::create_dir(path.join("folder")).unwrap();
        assert!(find(Some("fits"), &[], path).is_ok());
        for (name, part) in [("large", "larger than"), ("bytes", "UTF-8"), ("folder", "a folder")] {
            let message = find(Some(name), &[], path).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
