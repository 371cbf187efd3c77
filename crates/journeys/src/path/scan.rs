//! Reads a path as a text: where it ends, and what stands outside its quotes.

/// How long the path that a text begins with is, in bytes; 0 where it begins with none.
pub(crate) fn extent(text: &str) -> usize {
    let mut letters = text.char_indices().peekable();
    if letters.next().map(|(_, letter)| letter) != Some('$') {
        return 0;
    }
    let mut end = 1;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' => end = at.saturating_add(1),
            '*' if text.get(..at).is_some_and(|before| before.ends_with('.')) => {
                end = at.saturating_add(1);
            }
            '[' => match closing(text.get(at..).unwrap_or_default()) {
                Some(length) => {
                    end = at.saturating_add(length);
                    while letters.peek().is_some_and(|(next, _)| *next < end) {
                        letters.next();
                    }
                }
                None => return text.len(),
            },
            letter if letter.is_alphanumeric() || letter == '_' => {
                end = at.saturating_add(letter.len_utf8());
            }
            _ => break,
        }
    }
    end
}

/// How long a text in brackets is, quotes and brackets in it respected.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, letter) in outside_quotes(text) {
        match letter {
            '[' => depth = depth.saturating_add(1),
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at.saturating_add(1));
                }
            }
            _ => {}
        }
    }
    None
}

/// The characters of a text that do not stand in quotes.
pub(crate) fn outside_quotes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    let mut is_escaped = false;
    text.char_indices().filter(move |(_, letter)| match quote {
        Some(open) => {
            if is_escaped {
                is_escaped = false;
            } else if *letter == '\\' {
                is_escaped = true;
            } else if *letter == open {
                quote = None;
            }
            false
        }
        None => {
            let is_quote = matches!(letter, '"' | '\'');
            quote = is_quote.then_some(*letter);
            !is_quote
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_an_expression_ends_where_it_does() {
        for (text, path) in [
            ("$.decline_reason }}", "$.decline_reason"),
            ("$.a[0].b | upper", "$.a[0].b"),
            ("$['a b]'].c ~ 1", "$['a b]'].c"),
            ("$.a[*].b", "$.a[*].b"),
            ("$..name,", "$..name"),
            ("$ | length", "$"),
            ("a", ""),
            ("$.a[", "$.a["),
        ] {
            assert_eq!(&text[..extent(text)], path, "{text}");
        }
    }
}
