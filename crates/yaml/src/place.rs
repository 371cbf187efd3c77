//! Where in a text something stands. Read again, and only when something is wrong.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use crate::read::Limits;

/// One step of the way to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into a mapping.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// The way as a person reads it, such as `steps[3].id`.
#[must_use]
pub fn shown(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text = format!("{text}.{key}"),
            Step::Index(index) => text = format!("{text}[{index}]"),
        }
    }
    text
}

/// Finds places in a text.
#[derive(Debug)]
pub struct Finder(Option<Spanned<Node>>);

impl Finder {
    /// Reads a text again; in one that can't be read, nothing is found.
    #[must_use]
    pub fn new(text: &str, limits: Limits) -> Self {
        Self(serde_saphyr::from_str_with_options(text, limits.lenient()).ok())
    }

    /// The way to the value that stands at this place; empty where none does.
    pub(crate) fn way_to(&self, wanted: (u64, u64)) -> Vec<Step> {
        let mut way = Vec::new();
        let found = self.0.as_ref().is_some_and(|root| root.value.seek(wanted, &mut way));
        if found { way } else { Vec::new() }
    }

    /// Every key that stands there a second time, with the way to it and its place.
    pub(crate) fn repeated(&self) -> Vec<(Vec<Step>, (u64, u64))> {
        let mut repeated = Vec::new();
        if let Some(root) = &self.0 {
            root.value.collect_repeated(&mut Vec::new(), &mut repeated);
        }
        repeated
    }

    /// Line and column of the key that a way ends with, or of what stands around it where it is not there.
    #[must_use]
    pub fn find_key(&self, path: &[Step]) -> Option<(u64, u64)> {
        let (Some(Step::Key(key)), around) = (path.last(), path.split_last()?.1) else {
            return self.find(path);
        };
        let Node::Mapping(pairs) = &self.reach(around)?.value else { return self.find(path) };
        let found = pairs.iter().find(|(name, _)| name.value == *key);
        found.and_then(|(name, _)| place(name)).or_else(|| self.find(around))
    }

    /// Line and column of a value, or of what stands around it where it is not there.
    #[must_use]
    pub fn find(&self, path: &[Step]) -> Option<(u64, u64)> {
        place(self.reach(path)?)
    }

    /// The value, or the last on the way to it that is there.
    fn reach(&self, path: &[Step]) -> Option<&Spanned<Node>> {
        let mut here = self.0.as_ref()?;
        for step in path {
            let next = match (step, &here.value) {
                (Step::Key(key), Node::Mapping(pairs)) => {
                    pairs.iter().find(|(name, _)| name.value == *key).map(|(_, value)| value)
                }
                (Step::Index(index), Node::List(items)) => items.get(*index),
                _ => None,
            };
            let Some(next) = next else { break };
            here = next;
        }
        Some(here)
    }
}

fn place<T>(spanned: &Spanned<T>) -> Option<(u64, u64)> {
    let place = (spanned.referenced.line(), spanned.referenced.column());
    (place.0 > 0).then_some(place)
}

/// Any value, with the places of what is in it.
#[derive(Debug)]
enum Node {
    Mapping(Vec<(Spanned<String>, Spanned<Self>)>),
    List(Vec<Spanned<Self>>),
    Leaf,
}

/// A value within another: the step to it, its key in a mapping, and itself.
type Child<'a> = (Step, Option<&'a Spanned<String>>, &'a Spanned<Node>);

impl Node {
    fn children(&self) -> Vec<Child<'_>> {
        match self {
            Self::Mapping(pairs) => {
                let pairs = pairs.iter();
                pairs.map(|(key, value)| (Step::Key(key.value.clone()), Some(key), value)).collect()
            }
            Self::List(items) => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| (Step::Index(index), None, item)).collect()
            }
            Self::Leaf => Vec::new(),
        }
    }

    fn seek(&self, wanted: (u64, u64), way: &mut Vec<Step>) -> bool {
        for (step, _, value) in self.children() {
            way.push(step);
            if place(value) == Some(wanted) || value.value.seek(wanted, way) {
                return true;
            }
            way.pop();
        }
        false
    }

    fn collect_repeated(&self, way: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, (u64, u64))>) {
        let mut seen = BTreeSet::new();
        for (step, key, value) in self.children() {
            way.push(step);
            if let Some(key) = key
                && !seen.insert(key.value.clone())
            {
                found.extend(place(key).map(|place| (way.clone(), place)));
            }
            value.value.collect_repeated(way, found);
            way.pop();
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Node::Mapping(pairs))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Node, D::Error> {
        IgnoredAny::deserialize(inner).map(|_| Node::Leaf)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Leaf)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Leaf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { nodes: 100, replayed: 100, depth: 10 };

    fn key(key: &str) -> Step {
        Step::Key(key.to_owned())
    }

    #[test]
    fn a_value_is_found_by_the_way_to_it() {
        let text = "a: 1\nb:\n  - x: null\n    y: [1.5, true]\n  - {x: 3}\n";
        for (path, place) in [
            (vec![], (1, 1)),
            (vec![key("a")], (1, 4)),
            (vec![key("b"), Step::Index(0), key("x")], (3, 8)),
            (vec![key("b"), Step::Index(0), key("y"), Step::Index(1)], (4, 14)),
            (vec![key("b"), Step::Index(1), key("x")], (5, 9)),
            (vec![key("b"), Step::Index(1), key("none")], (5, 5)),
            (vec![key("none")], (1, 1)),
        ] {
            let found = Finder::new(text, LIMITS).find(&path);
            assert_eq!(found, Some(place), "{}", shown(&path));
        }
        assert_eq!(Finder::new("a: [", LIMITS).find(&[]), None);
    }

    #[test]
    fn a_way_is_shown_as_people_write_it() {
        let path = [key("steps"), Step::Index(3), key("headers"), key("X-Key")];
        assert_eq!(shown(&path), "steps[3].headers.X-Key");
        assert_eq!(shown(&[]), "");
    }
}
