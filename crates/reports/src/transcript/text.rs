//! Plain text: a line for each line, with its timecode and speaker where it begins with them.

use super::timecode::Timecode;
use super::{MAX_SPEAKER, lines::Lines, lines_of};

/// The most words of a speaker's name: more before a colon is a sentence.
const MAX_NAME_WORDS: usize = 4;

pub(super) fn read(text: &str, lines: &mut Lines) {
    for line in lines_of(text) {
        let (timecode, rest) = timecode(line.trim());
        let (speaker, rest) = speaker(rest);
        lines.add(timecode.as_ref(), speaker, rest);
    }
}

/// `[00:01:02] …`, `(1:02) …`, `00:01:02 …` or `00:01:02 - …`.
fn timecode(line: &str) -> (Option<Timecode>, &str) {
    let bare = line.trim_start_matches(['[', '(']);
    let is_part = |one: char| one.is_ascii_digit() || matches!(one, ':' | '.' | ',');
    let end = bare.find(|one| !is_part(one)).unwrap_or(bare.len());
    let (code, rest) = bare.split_at(end);
    let Some(timecode) = Timecode::parse(code) else { return (None, line) };
    let rest = rest.trim_start_matches([']', ')']).trim_start();
    (Some(timecode), rest.trim_start_matches(['-', '–', '—']).trim_start())
}

/// `Alice Smith: …`, and no address, time or sentence.
fn speaker(line: &str) -> (Option<&str>, &str) {
    let Some((name, said)) = line.split_once(": ") else { return (None, line) };
    let is_part = |one: char| one.is_alphanumeric() || matches!(one, ' ' | '.' | '-' | '_' | '\'');
    let begins = name.chars().next().is_some_and(char::is_alphabetic);
    let is_name = begins
        && name.chars().count() <= MAX_SPEAKER
        && name.split(' ').count() <= MAX_NAME_WORDS
        && name.chars().all(is_part)
        && !said.trim().is_empty();
    if is_name { (Some(name), said) } else { (None, line) }
}
