//! Templates such as `{{ base }}/orders` that stand without quotes. To YAML they begin a mapping within a mapping, and
//! nothing behind them can be read.

/// A text that can be read as if those templates were plain words, every other letter in its place.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) text: String,
    /// Line and column of each.
    pub(crate) places: Vec<(u64, u64)>,
}

impl Plain {
    pub(crate) fn of(text: &str) -> Self {
        let mut plain = Self { text: String::with_capacity(text.len()), places: Vec::new() };
        for (line, number) in text.split_inclusive('\n').zip(1..) {
            plain.line(line, number);
        }
        plain
    }

    fn line(&mut self, line: &str, number: u64) {
        let mut letters: Vec<char> = line.chars().collect();
        let mut reader = Reader::default();
        let mut is_template = false;
        for at in 0..letters.len() {
            let pair = (letters.get(at).copied(), letters.get(at.saturating_add(1)).copied());
            let Some(letter) = pair.0 else { break };
            let may_begin = reader.may_begin_value();
            reader.read(letter);
            let is_word = match pair {
                (Some('{'), Some('{')) if may_begin || is_template => {
                    if may_begin {
                        let column = u64::try_from(at).unwrap_or(u64::MAX).saturating_add(1);
                        self.places.push((number, column));
                    }
                    is_template = true;
                    true
                }
                (Some('}'), Some('}')) => is_template,
                _ => false,
            };
            if is_word && reader.quote.is_none() {
                for letter in letters.iter_mut().skip(at).take(2) {
                    *letter = 'x';
                }
            }
        }
        self.text.extend(letters);
    }
}

/// What was read of a line.
#[derive(Debug, Default)]
struct Reader {
    quote: Option<char>,
    /// The last letter that is no space, and whether a space comes behind it.
    last: Option<char>,
    is_apart: bool,
    is_comment: bool,
}

impl Reader {
    /// Whether a value may begin here: behind a key or the dash of a list, or within brackets.
    fn may_begin_value(&self) -> bool {
        if self.quote.is_some() || self.is_comment {
            return false;
        }
        match self.last {
            None | Some('[' | ',') => true,
            Some(':' | '-') => self.is_apart,
            Some(_) => false,
        }
    }

    fn read(&mut self, letter: char) {
        match self.quote {
            Some(open) if letter == open => self.quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'') && self.may_begin_value() => {
                self.quote = Some(letter);
            }
            None => self.is_comment |= letter == '#' && (self.is_apart || self.last.is_none()),
        }
        self.is_apart = letter.is_whitespace();
        if !self.is_apart {
            self.last = Some(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_without_quotes_become_words_and_nothing_else_moves() {
        for (text, plain, columns) in [
            ("get: {{ base }}/x\n", "get: xx base xx/x\n", vec![6]),
            ("a: [{{ b }}, {{ c }}]", "a: [xx b xx, xx c xx]", vec![5, 14]),
            ("- {{ b }}/{{ c }}", "- xx b xx/xx c xx", vec![3]),
            ("a: '{{ b }}'", "a: '{{ b }}'", vec![]),
            ("a: x {{ b }}", "a: x {{ b }}", vec![]),
            ("a: 1 # say: {{ b }}", "a: 1 # say: {{ b }}", vec![]),
            ("a: {b: {c: 1}}", "a: {b: {c: 1}}", vec![]),
            ("ä: {{ b }}", "ä: xx b xx", vec![4]),
        ] {
            let found = Plain::of(text);
            let at: Vec<u64> = found.places.iter().map(|(_, column)| *column).collect();
            assert_eq!((found.text.as_str(), at), (plain, columns), "{text}");
        }
    }
}
