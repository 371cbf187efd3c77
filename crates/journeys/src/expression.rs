//! What an expression does with its values, as far as that must be known before it is run. Pure.

use crate::path::outside_quotes;

/// The filters that there are.
pub(crate) const FILTERS: [&str; 13] = [
    "default",
    "first",
    "float",
    "int",
    "last",
    "length",
    "lower",
    "round",
    "string",
    "tojson",
    "trim",
    "upper",
    "urlencode",
];
/// The tests that there are.
pub(crate) const TESTS: [&str; 2] = ["defined", "none"];
/// Those that may be told something in brackets.
const TAKING: [&str; 5] = ["default", "float", "int", "round", "trim"];
/// After these a secret is still known in what is shown.
const KEEPING: [&str; 3] = ["string", "tojson", "urlencode"];
/// Words that are no names of values.
const OPERATORS: [&str; 7] = ["and", "else", "if", "in", "is", "not", "or"];
/// Words that are values themselves.
const CONSTANTS: [&str; 6] = ["true", "false", "none", "True", "False", "None"];

/// The names of its filters.
pub(crate) fn filters(expression: &str) -> Vec<String> {
    let tokens = tokens(expression);
    behind(&tokens, "|").map(str::to_owned).collect()
}

/// The first filter that is told something and takes nothing.
pub(crate) fn untaking(expression: &str) -> Option<String> {
    let tokens = tokens(expression);
    tokens.windows(3).find_map(|found| match found {
        [bar, filter, open] if bar == "|" && open == "(" && !TAKING.contains(&filter.as_str()) => {
            Some(filter.clone())
        }
        _ => None,
    })
}

/// How often it names a value.
pub(crate) fn names(expression: &str) -> usize {
    let tokens = tokens(expression);
    let before = std::iter::once("").chain(tokens.iter().map(String::as_str));
    let is_name = |(before, token): &(&str, &String)| {
        token.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
            && !["|", ".", "is"].contains(before)
            && !OPERATORS.contains(&token.as_str())
            && !CONSTANTS.contains(&token.as_str())
    };
    before.zip(&tokens).filter(is_name).count()
}

/// How often it goes over its values at most: once for each sign and filter, and once for the result.
pub(crate) fn operations(expression: &str) -> u64 {
    let is_operation = |token: &String| {
        let is_word = token.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        token != "." && (!is_word || OPERATORS.contains(&token.as_str()))
    };
    let count = tokens(expression).iter().filter(|token| is_operation(token)).count();
    u64::try_from(count).unwrap_or(u64::MAX).saturating_add(1)
}

/// Whether it takes a slice of something.
pub(crate) fn has_slice(expression: &str) -> bool {
    let mut open = Vec::new();
    outside_quotes(expression).any(|(_, letter)| {
        match letter {
            '(' | '[' | '{' => open.push(letter),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
        letter == ':' && open.last() == Some(&'[')
    })
}

/// How deep its brackets are.
pub(crate) fn depth(expression: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for (_, letter) in outside_quotes(expression) {
        match letter {
            '(' | '[' | '{' => depth = depth.saturating_add(1),
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The names of its tests.
pub(crate) fn tests(expression: &str) -> Vec<String> {
    let tokens: Vec<String> =
        tokens(expression).into_iter().filter(|token| token != "not").collect();
    behind(&tokens, "is").map(str::to_owned).collect()
}

/// Whether every value of it stands in the result as it is, or as a filter writes it that only escapes.
pub(crate) fn keeps_values(expression: &str) -> bool {
    let tokens = tokens(expression);
    let is_joining = |token: &String| {
        let is_word = token.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
        let is_operator = OPERATORS.contains(&token.as_str());
        (is_word && !is_operator) || ["|", ".", "~", "(", ")"].contains(&token.as_str())
    };
    tokens.iter().all(is_joining) && behind(&tokens, "|").all(|filter| KEEPING.contains(&filter))
}

fn behind<'a>(tokens: &'a [String], before: &str) -> impl Iterator<Item = &'a str> {
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    pairs.filter(move |(token, _)| *token == before).map(|(_, next)| next.as_str())
}

/// Words and single signs; what stands in quotes is left out.
fn tokens(expression: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut end = 0;
    for (at, letter) in outside_quotes(expression) {
        let is_word = letter.is_alphanumeric() || letter == '_';
        let goes_on = is_word && at == end;
        match tokens.last_mut() {
            Some(last) if goes_on => last.push(letter),
            _ if letter.is_whitespace() => {}
            _ => tokens.push(letter.to_string()),
        }
        end = if is_word { at.saturating_add(letter.len_utf8()) } else { 0 };
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_and_tests_are_found() {
        assert_eq!(filters("a|upper | default('x|y') ~ b|trim"), ["upper", "default", "trim"]);
        assert_eq!(tests("a is not defined and b is none"), ["defined", "none"]);
        assert!(filters("'a|b'").is_empty());
    }

    #[test]
    fn values_are_counted_each_time_they_are_named() {
        for (expression, count) in [
            ("a ~ b.c.d ~ a", 3),
            ("a|default(b)|upper", 2),
            ("'x y' ~ 1 ~ true", 0),
            ("a if b is not none else none", 2),
            ("[a, {'k': b}][0] in c", 3),
        ] {
            assert_eq!(names(expression), count, "{expression}");
        }
    }

    #[test]
    fn operations_are_counted_and_steps_into_a_value_are_not() {
        for (expression, count) in
            [("a", 1), ("a.b.c", 1), ("a|upper|lower", 3), ("a ~ b", 2), ("a in b or not c", 4)]
        {
            assert_eq!(operations(expression), count, "{expression}");
        }
    }

    #[test]
    fn the_depth_is_that_of_the_deepest_bracket() {
        assert_eq!(depth("a"), 0);
        assert_eq!(depth("(a)[0] ~ '((('"), 1);
        assert_eq!(depth("[{'a': (b)}]"), 3);
    }

    #[test]
    fn a_filter_that_is_told_what_it_does_not_take_is_found() {
        assert_eq!(untaking("a|round(1)|tojson( 2 )").as_deref(), Some("tojson"));
        assert_eq!(untaking("a|upper('x')").as_deref(), Some("upper"));
        assert_eq!(untaking("(a|upper) ~ (b|trim('x'))|tojson"), None);
    }

    #[test]
    fn what_only_escapes_or_joins_keeps_a_value() {
        for kept in [
            "secret.KEY",
            "secret.KEY | urlencode",
            "'Bearer ' ~ secret.KEY",
            "(secret.KEY|string)|tojson",
        ] {
            assert!(keeps_values(kept), "{kept}");
        }
        for changed in [
            "secret.KEY|upper",
            "secret.KEY[:3]",
            "secret['KEY']",
            "secret.KEY == 'x'",
            "secret.KEY if true else ''",
            "'a' in secret.KEY",
            "secret.KEY|default('x')",
            "secret.KEY is defined",
            "secret.PIN + 1",
        ] {
            assert!(!keeps_values(changed), "{changed}");
        }
    }
}
