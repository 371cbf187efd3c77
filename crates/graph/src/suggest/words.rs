//! The words of a name.

use std::collections::BTreeSet;

/// Words that say nothing of what a thing is.
const EMPTY: [&str; 19] = [
    "api",
    "app",
    "backend",
    "client",
    "endpoint",
    "grpc",
    "health",
    "http",
    "https",
    "internal",
    "live",
    "prod",
    "production",
    "rest",
    "server",
    "service",
    "svc",
    "the",
    "v1",
];

/// The most words of a name that are looked at.
const MOST_WORDS: usize = 12;

/// The words of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words {
    /// Those that say something; all of them, when none does.
    pub(super) telling: BTreeSet<String>,
    /// All of them, without what stands between: `order-service` is `OrderService`.
    pub(super) joined: String,
}

impl Words {
    pub(super) fn of(name: &str) -> Self {
        let lower = name.to_lowercase();
        let all: Vec<&str> = lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(MOST_WORDS)
            .collect();
        let joined = all.concat();
        let mut telling: BTreeSet<String> =
            all.iter().filter(|word| !EMPTY.contains(word)).map(|&word| word.to_owned()).collect();
        if telling.is_empty() {
            telling = all.iter().map(|&word| word.to_owned()).collect();
        }
        Self { telling, joined }
    }

    /// The telling words as one text.
    pub(super) fn phrase(&self) -> String {
        self.telling.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_nothing_are_dropped_unless_there_are_no_others() {
        for (name, phrase, joined) in [
            ("payments-api", "payments", "paymentsapi"),
            ("Payments", "payments", "payments"),
            ("  PAYMENTS_svc (prod) ", "payments", "paymentssvcprod"),
            ("order.intake/service", "intake order", "orderintakeservice"),
            ("API", "api", "api"),
            ("***", "", ""),
        ] {
            let words = Words::of(name);
            assert_eq!((words.phrase().as_str(), words.joined.as_str()), (phrase, joined));
        }
    }
}
