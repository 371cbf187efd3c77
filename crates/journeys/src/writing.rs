//! In how many ways a text may be written, so that a secret is known again in what a service sends back:
//! escaped for an address, for JSON (also JSON within JSON) or HTML, or read in another encoding than it was
//! sent in. Pure.

use std::collections::BTreeSet;

use crate::text::CUT;

/// The most digits of a number by which a letter is written.
const MAX_DIGITS: usize = 8;
/// The most bytes between the `&` of HTML and its `;`.
const MAX_ENTITY: usize = 2 + MAX_DIGITS;
/// How often a text is escaped again at most, each time within the one before.
const MAX_AGAIN: usize = 8;
/// What stands for a letter that an encoding does not have.
const UNKNOWN: [char; 2] = ['?', '\u{FFFD}'];

/// The time for looking ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OutOfTime;

/// How many bytes of `text` are `secret`, if it begins with it, however any part of it is written. The
/// beginning of one is enough where the text was cut behind it. `compare` is asked before each letter whether
/// there is time for it.
pub(crate) fn written(
    text: &str,
    secret: &str,
    mut compare: impl FnMut() -> Result<(), OutOfTime>,
) -> Result<Option<usize>, OutOfTime> {
    let mut here = Place { rest: text, left: secret, is_escaped: false };
    let mut others = Others::default();
    loop {
        if here.left.is_empty() {
            return Ok(text.len().checked_sub(here.rest.len()));
        }
        compare()?;
        here = match here.next(&mut others, &mut compare)? {
            Some(next) => next,
            None if here.rest.len() < text.len() && here.rest.starts_with(CUT) => {
                return Ok(text.len().checked_sub(here.rest.len()));
            }
            None => match others.places.pop() {
                Some(other) => other,
                None => return Ok(None),
            },
        };
    }
}

/// Where letters can be read in several ways, the places that the other ways lead to.
#[derive(Debug, Default)]
struct Others<'a> {
    places: Vec<Place<'a>>,
    /// What is left of the text and of the secret there: nobody goes on from the same place twice, or a long
    /// secret would be tried in more ways than there is time for.
    seen: BTreeSet<(usize, usize)>,
}

impl<'a> Others<'a> {
    fn add(&mut self, place: Place<'a>) {
        if self.seen.insert((place.rest.len(), place.left.len())) {
            self.places.push(place);
        }
    }
}

/// How far a text and a secret were read together.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    rest: &'a str,
    left: &'a str,
    /// Behind backslashes of the secret, those of an escape are gone with them.
    is_escaped: bool,
}

impl<'a> Place<'a> {
    /// One letter further, or all backslashes that stand there.
    fn next(
        self,
        others: &mut Others<'a>,
        compare: &mut impl FnMut() -> Result<(), OutOfTime>,
    ) -> Result<Option<Self>, OutOfTime> {
        let left = self.left.trim_start_matches('\\');
        let count = self.left.len().saturating_sub(left.len());
        if count > 0 {
            let rest = after_backslashes(self.rest, count, compare)?;
            return Ok(rest.map(|rest| Self { rest, left, is_escaped: true }));
        }
        Ok(self.after_letter(others))
    }

    fn after_letter(self, others: &mut Others<'a>) -> Option<Self> {
        let letter = self.left.chars().next()?;
        let left = self.left.get(letter.len_utf8()..).unwrap_or_default();
        let further = |rest| Self { rest, left, is_escaped: false };
        match (letter, self.rest.strip_prefix(letter)) {
            ('%', Some(behind)) => again(behind, "25").for_each(|rest| others.add(further(rest))),
            ('&', Some(behind)) => {
                for rest in again(behind, "amp;") {
                    others.add(further(rest));
                    after_number(rest, letter)
                        .into_iter()
                        .for_each(|rest| others.add(further(rest)));
                }
            }
            (_, plain) => {
                let rest = plain.or_else(|| escaped(self.rest, letter, self.is_escaped));
                return rest.map(further);
            }
        }
        others.places.pop()
    }
}

/// What comes after a sign that stands in its own escape: behind it, and behind each time it was escaped again.
fn again<'a>(behind: &'a str, escape: &'a str) -> impl Iterator<Item = &'a str> {
    let all = std::iter::successors(Some(behind), move |rest| rest.strip_prefix(escape));
    all.take(MAX_AGAIN.saturating_add(1))
}

/// What comes after one letter that is not written as itself.
fn escaped(text: &str, letter: char, is_escaped: bool) -> Option<&str> {
    after_one(text, letter, is_escaped).or_else(|| {
        if letter.is_ascii() {
            return None;
        }
        after_misread(text, letter, is_escaped)
            .or_else(|| UNKNOWN.into_iter().find_map(|unknown| text.strip_prefix(unknown)))
    })
}

/// As one letter.
fn after_one(text: &str, letter: char, is_escaped: bool) -> Option<&str> {
    match text.chars().next()? {
        '%' => after_percent(text, letter),
        '+' => text.strip_prefix('+').filter(|_| letter == ' '),
        '&' => after_entity(text, letter),
        '\\' => after_escape(text.trim_start_matches('\\'), letter),
        _ if is_escaped => after_escape(text, letter),
        _ => None,
    }
}

/// As its bytes, each read as a letter of its own.
fn after_misread(text: &str, letter: char, is_escaped: bool) -> Option<&str> {
    let mut buffer = [0; 4];
    let mut bytes = letter.encode_utf8(&mut buffer).bytes();
    bytes.try_fold(text, |rest, byte| {
        let letter = char::from(byte);
        rest.strip_prefix(letter).or_else(|| after_one(rest, letter, is_escaped))
    })
}

/// As an address writes it, or an address within one.
fn after_percent(text: &str, letter: char) -> Option<&str> {
    let mut buffer = [0; 4];
    letter.encode_utf8(&mut buffer).bytes().try_fold(text, |rest, byte| {
        again(rest.strip_prefix('%')?, "25").find_map(|code| {
            let (digits, behind) = code.split_at_checked(2)?;
            (u8::from_str_radix(digits, 16) == Ok(byte)).then_some(behind)
        })
    })
}

/// What comes after an escape of JSON or a script, without its backslashes.
fn after_escape(text: &str, letter: char) -> Option<&str> {
    let short = match letter {
        '\n' => 'n',
        '\r' => 'r',
        '\t' => 't',
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        '\0' => '0',
        letter => letter,
    };
    if let Some(rest) = text.strip_prefix(short) {
        return Some(rest);
    }
    let code = u32::from(letter);
    if let Some(rest) = text.strip_prefix('x') {
        return after_digits(rest, 2, code);
    }
    let rest = text.strip_prefix('u')?;
    if let Some(rest) = rest.strip_prefix('{') {
        let (digits, behind) = before(rest, b'}', MAX_DIGITS)?;
        return is_number(digits, 16, code).then_some(behind);
    }
    let mut units = [0; 2];
    match letter.encode_utf16(&mut units) {
        [high, low] => {
            let rest = after_digits(rest, 4, u32::from(*high))?;
            let rest = rest.strip_prefix('\\')?.trim_start_matches('\\');
            after_digits(rest.strip_prefix('u')?, 4, u32::from(*low))
        }
        _ => after_digits(rest, 4, code),
    }
}

/// As HTML writes it, or HTML within HTML.
fn after_entity(text: &str, letter: char) -> Option<&str> {
    again(text.strip_prefix('&')?, "amp;").find_map(|name| {
        after_number(name, letter).or_else(|| {
            let (name, behind) = before(name, b';', MAX_ENTITY)?;
            (named(name) == Some(letter)).then_some(behind)
        })
    })
}

/// What comes after the number of a letter in HTML, without its `&`.
fn after_number(text: &str, letter: char) -> Option<&str> {
    let (number, behind) = before(text.strip_prefix('#')?, b';', MAX_ENTITY)?;
    let is_it = match number.strip_prefix(['x', 'X']) {
        Some(digits) => is_number(digits, 16, letter.into()),
        None => is_number(number, 10, letter.into()),
    };
    is_it.then_some(behind)
}

/// What stands before a sign and behind it, where it comes within so many bytes: nobody looks through the rest
/// of a long text at each of its letters.
fn before(text: &str, sign: u8, most: usize) -> Option<(&str, &str)> {
    let length = text.bytes().take(most.saturating_add(1)).position(|byte| byte == sign)?;
    Some((text.get(..length)?, text.get(length.saturating_add(1)..)?))
}

fn named(entity: &str) -> Option<char> {
    Some(match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "bsol" => '\\',
        "sol" => '/',
        "plus" => '+',
        "equals" => '=',
        "colon" => ':',
        "num" => '#',
        "percnt" => '%',
        "excl" => '!',
        "quest" => '?',
        "commat" => '@',
        "dollar" => '$',
        "lowbar" => '_',
        "grave" => '`',
        _ => return None,
    })
}

/// What comes after so many backslashes or more: each escaping doubles them.
fn after_backslashes<'a>(
    text: &'a str,
    count: usize,
    compare: &mut impl FnMut() -> Result<(), OutOfTime>,
) -> Result<Option<&'a str>, OutOfTime> {
    let (mut rest, mut seen) = (text, 0_usize);
    loop {
        let written = after_digits_of_backslash(rest);
        let plain = rest.strip_prefix('\\');
        let entity = after_entity(rest, '\\').or_else(|| after_percent(rest, '\\'));
        let Some(next) = written.or(plain).or(entity) else { break };
        compare()?;
        rest = next;
        seen = seen.saturating_add(1);
    }
    Ok((seen >= count).then_some(rest))
}

fn after_digits_of_backslash(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('\\')?;
    let code = u32::from('\\');
    let long = rest.strip_prefix('u').and_then(|rest| after_digits(rest, 4, code));
    long.or_else(|| rest.strip_prefix('x').and_then(|rest| after_digits(rest, 2, code)))
}

fn after_digits(text: &str, count: usize, code: u32) -> Option<&str> {
    let (digits, behind) = text.split_at_checked(count)?;
    is_number(digits, 16, code).then_some(behind)
}

fn is_number(digits: &str, radix: u32, code: u32) -> bool {
    digits.len() <= MAX_DIGITS && u32::from_str_radix(digits, radix) == Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn whole(text: &str, secret: &str) {
        assert_eq!(found(text, secret), Some(text.len()), "{secret} as {text}");
    }

    fn found(text: &str, secret: &str) -> Option<usize> {
        written(text, secret, || Ok(())).unwrap()
    }

    /// The text as JSON writes it, without its quotes.
    fn json(text: &str) -> String {
        let quoted = serde_json::Value::from(text).to_string();
        quoted.trim_start_matches('"').strip_suffix('"').unwrap().to_owned()
    }

    fn ascii_json(text: &str) -> String {
        let mut units = [0; 2];
        let escaped = text.chars().map(|letter| match letter.is_ascii() {
            true => json(&letter.to_string()).replace("\"\"", "\\\""),
            false => letter
                .encode_utf16(&mut units)
                .iter()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect(),
        });
        escaped.collect()
    }

    fn latin_1(text: &str) -> String {
        text.bytes().map(char::from).collect()
    }

    #[test]
    fn a_secret_is_known_in_json_within_json() {
        for secret in [r#"ab"cd\ef"#, "pä-ss", "x😀yz", r"a\\b\", "two\nlines\\n", r#"\"\"#] {
            let mut text = secret.to_owned();
            for _ in 0..4 {
                whole(&text, secret);
                text = json(&text);
            }
            let mut text = ascii_json(secret);
            for _ in 0..3 {
                whole(&text, secret);
                text = json(&text);
            }
        }
        whole(r#"ab\\\"cd\\\\ef"#, r#"ab"cd\ef"#);
        whole(r"x\ud83d\ude00yz", "x😀yz");
        whole(r"a\x5cb\u{e4}\xe4", r"a\bää");
    }

    #[test]
    fn a_secret_is_known_when_its_bytes_were_read_as_letters() {
        for secret in ["pä-ss", "x😀yz", "€uro"] {
            whole(&latin_1(secret), secret);
            whole(&json(&latin_1(secret)), secret);
            whole(&ascii_json(&latin_1(secret)), secret);
        }
        whole(r"p\u00c3\u00a4-ss", "pä-ss");
        whole("p\u{FFFD}-ss", "pä-ss");
        whole("p?-ss", "pä-ss");
    }

    #[test]
    fn a_secret_is_known_in_html_and_in_addresses() {
        let secret = "a&b<\"c'> %d";
        whole("a&amp;b&lt;&quot;c&#39;&gt; %d", secret);
        whole("a&amp;amp;b&amp;lt;&#34;c&#x27;&amp;gt;&#32;&percnt;d", secret);
        whole("a%26b%3C%22c%27%3E+%25d", secret);
        whole("a%2526b%253C%2522c%2527%253E%2520%2525d", secret);
        whole("p%C3%A4%25C3%25A4", "pää");
        for secret in ["%25%", "&amp;&", "100%off&more", "a+b c"] {
            whole(secret, secret);
        }
        whole("%2525%25&amp;amp;", "%25%&amp;");
    }

    /// Each `&` can be read in two ways: all of them together are more than anybody could try.
    #[test]
    fn a_secret_that_is_nearly_there_is_ruled_out_soon() {
        for (sign, escaped) in
            [("&", "&amp;"), ("&", "&amp;amp;"), ("&", "&amp;#38;"), ("%", "%25")]
        {
            let secret = format!("{}Z", sign.repeat(60));
            let text = format!("{}Y", escaped.repeat(60));
            assert_eq!(found(&text, &secret), None, "{escaped}");
            let text = format!("{}Z", escaped.repeat(60));
            whole(&text, &secret);
        }
    }

    #[test]
    fn what_is_another_text_is_left_alone() {
        for (text, secret) in [
            ("hunter3", "hunter2"),
            ("a/b", r"a\b"),
            (r"a\b", r"a\\b"),
            ("&amp;", "<"),
            ("", "x"),
            ("x?y", "xzy"),
        ] {
            assert_eq!(found(text, secret), None, "{secret} as {text}");
        }
    }
}
