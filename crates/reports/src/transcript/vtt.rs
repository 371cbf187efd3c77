//! WebVTT: cues with their times and voices. A cue that is broken is read as text, and counted.

use std::borrow::Cow;

use super::timecode::Timecode;
use super::{lines::Lines, lines_of};

const ARROW: &str = "-->";

/// The most bytes of a tag: what is longer is no tag.
const MAX_TAG: usize = 200;

pub(super) fn read(text: &str, lines: &mut Lines) {
    let mut block = Vec::new();
    for line in lines_of(text).chain([""]) {
        let is_blank = line.trim().is_empty();
        if is_blank || (line.contains(ARROW) && !is_name(&block)) {
            read_block(&block, lines);
            block.clear();
        }
        if !is_blank {
            block.push(line);
        }
    }
}

/// Whether what came since the blank line may name the cue whose times come next.
fn is_name(block: &[&str]) -> bool {
    matches!(block, [line] if !line.contains(ARROW))
}

/// Reads one cue, or what stands between blank lines and is none: only its first two lines can be times.
fn read_block(block: &[&str], lines: &mut Lines) {
    let Some(first) = block.first().map(|line| line.trim_start()) else { return };
    let is_of = |word: &str| {
        first
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    };
    let timing = block.iter().position(|line| line.contains(ARROW));
    if timing.is_none() && ["WEBVTT", "NOTE", "STYLE", "REGION"].into_iter().any(is_of) {
        return;
    }
    let code = timing.and_then(|at| block.get(at)).and_then(|line| beginning(line));
    if code.is_none() {
        lines.broken_cues = lines.broken_cues.saturating_add(1);
    }
    // The line before the times names the cue.
    let times = timing.filter(|at| !is_said(block, *at));
    let said = times.map_or(block, |at| block.get(at.saturating_add(1)..).unwrap_or_default());
    add_voices(&said.join(" "), code.as_ref(), lines);
}

/// Whether a line with an arrow holds words and no times, not even broken ones: those were said.
fn is_said(block: &[&str], at: usize) -> bool {
    let before =
        block.get(at).and_then(|line| line.split_once(ARROW)).map(|(before, _)| before.trim());
    before.is_some_and(|before| {
        let is_time = before.starts_with(|one: char| one.is_ascii_digit());
        !before.is_empty() && (!is_time || before.contains(char::is_whitespace))
    })
}

/// The first time of `00:01:02.000 --> 00:01:05.000 align:start`.
fn beginning(line: &str) -> Option<Timecode> {
    let (from, rest) = line.split_once(ARROW)?;
    let to = rest.split_whitespace().next()?;
    Timecode::parse(to)?;
    Timecode::parse(from.trim())
}

/// A line for each voice: `<v Alice>…</v> <v Bob>…`.
fn add_voices(said: &str, code: Option<&Timecode>, lines: &mut Lines) {
    let (mut speaker, mut spoken, mut rest) = (None, String::new(), said);
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        spoken.push_str(before);
        let Some((tag, after)) = tag(from) else {
            // A bare `<` is text.
            spoken.push('<');
            rest = from.get(1..).unwrap_or_default();
            continue;
        };
        if let Some(name) = voice(tag) {
            lines.add(code, speaker.as_deref(), &unescape(&spoken));
            spoken.clear();
            speaker = Some(unescape(name).into_owned());
        }
        rest = after;
    }
    spoken.push_str(rest);
    lines.add(code, speaker.as_deref(), &unescape(&spoken));
}

/// A tag at the beginning of the text, without its brackets, and what follows it.
fn tag(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('<')?;
    // No further: a file of bare `<` would be looked through to its end for each of them.
    let near = inner.floor_char_boundary(MAX_TAG + 1);
    let end = inner.get(..near)?.find('>')?;
    let (tag, after) = (inner.get(..end)?, inner.get(end + 1..)?);
    let begins = tag.chars().next()?;
    (begins.is_ascii_alphanumeric() || begins == '/').then_some((tag, after))
}

/// The name in `v Alice` or `v.loud Alice`.
fn voice(tag: &str) -> Option<&str> {
    let (kind, name) = tag.split_once([' ', '\t'])?;
    let is_voice = kind == "v" || kind.starts_with("v.");
    (is_voice && !name.trim().is_empty()).then(|| name.trim())
}

/// The few escapes that WebVTT has. `&amp;` comes last, so that nothing is unescaped twice.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", " "), ("&lrm;", ""), ("&rlm;", "")];
    let unescaped =
        marks.iter().fold(text.to_owned(), |text, (mark, plain)| text.replace(mark, plain));
    Cow::Owned(unescaped.replace("&amp;", "&"))
}
