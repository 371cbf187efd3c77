//! Services by the words of their names, so that a thing is compared with few of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::Reason;
use super::words::Words;

/// The score of names that are the same but for words that say nothing.
const SAME_SCORE: u32 = 90;

/// The score of names whose words are the same but for what stands between them.
const JOINED_SCORE: u32 = 95;

/// The score of names that are alike, times how much they are.
const SIMILAR_SCORE: u32 = 80;

/// How alike names have to be, in hundredths: two of three words.
const LEAST_ALIKE: u32 = 66;

/// A word in more names than this is looked up only together with all other words of a name.
const MOST_SHARING: usize = 64;

/// The most services of one phrase: with more, the phrase tells nothing.
const MOST_SAME: usize = 8;

/// Services by the words of their names.
#[derive(Debug)]
pub(super) struct Names {
    words: HashMap<i64, Words>,
    by_word: HashMap<String, Vec<i64>>,
    by_phrase: HashMap<String, Vec<i64>>,
    by_joined: HashMap<String, Vec<i64>>,
}

impl Names {
    /// The names of services by number.
    pub(super) fn new<'a>(services: impl Iterator<Item = (i64, &'a str)>) -> Self {
        let mut names = Self {
            words: HashMap::new(),
            by_word: HashMap::new(),
            by_phrase: HashMap::new(),
            by_joined: HashMap::new(),
        };
        for (number, name) in services {
            let words = Words::of(name);
            if words.joined.is_empty() {
                continue;
            }
            for word in &words.telling {
                names.by_word.entry(word.clone()).or_default().push(number);
            }
            names.by_phrase.entry(words.phrase()).or_default().push(number);
            names.by_joined.entry(words.joined.clone()).or_default().push(number);
            names.words.insert(number, words);
        }
        names.by_word.retain(|_, services| services.len() <= MOST_SHARING);
        names.by_phrase.retain(|_, services| services.len() <= MOST_SAME);
        names
    }

    /// The services that are called like a thing, with a score and the reason.
    pub(super) fn like(&self, name: &str) -> Vec<(i64, u32, Reason)> {
        let words = Words::of(name);
        let mut found: BTreeMap<i64, (u32, Reason)> = BTreeMap::new();
        for &service in self.by_joined.get(&words.joined).into_iter().flatten() {
            found.insert(service, (JOINED_SCORE, Reason::SameName));
        }
        for &service in self.by_phrase.get(&words.phrase()).into_iter().flatten() {
            found.entry(service).or_insert((SAME_SCORE, Reason::SameName));
        }
        let shared = words.telling.iter().filter_map(|word| self.by_word.get(word)).flatten();
        for &service in shared {
            if !found.contains_key(&service)
                && let Some(similar) = self.similar(service, &words)
            {
                found.insert(service, similar);
            }
        }
        found.into_iter().map(|(service, (score, reason))| (service, score, reason)).collect()
    }

    fn similar(&self, service: i64, words: &Words) -> Option<(u32, Reason)> {
        let known = self.words.get(&service)?;
        let both: Vec<Arc<str>> =
            words.telling.intersection(&known.telling).map(|word| word.as_str().into()).collect();
        let shared = u32::try_from(both.len()).ok()?.saturating_mul(2);
        let all = words.telling.len().saturating_add(known.telling.len());
        let alike = shared.saturating_mul(100).checked_div(u32::try_from(all).ok()?)?;
        let score = alike.saturating_mul(SIMILAR_SCORE) / 100;
        (alike >= LEAST_ALIKE).then_some((score, Reason::SimilarName(both)))
    }
}
