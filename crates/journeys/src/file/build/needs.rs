//! Who waits for whom.

use std::collections::BTreeSet;

use super::Site;
use crate::bounds::MAX_EVENTS_NAMED;
use crate::file::mistakes::Way;
use crate::file::shape::StepShape;
use crate::model::Need;

/// The events that a step waits for, as far as they can be read.
pub(super) fn of(shape: &StepShape) -> Vec<Need> {
    given(shape).iter().filter_map(|text| read(text)).collect()
}

fn given(shape: &StepShape) -> &[String] {
    shape.needs.as_ref().map(|needs| needs.0.as_slice()).unwrap_or_default()
}

fn read(text: &str) -> Option<Need> {
    let (step, event) = text.split_once('.')?;
    Some(Need { step: step.to_owned(), event: event.to_owned() })
}

/// The events that a step and its poll may tell.
fn told(shape: &StepShape) -> BTreeSet<&str> {
    let own = shape.emit.iter();
    let rules = shape.poll.iter().flat_map(|poll| &poll.when);
    let emits = own.chain(rules.filter_map(|rule| rule.emit.as_ref()));
    emits.flat_map(|emit| &emit.0).map(String::as_str).collect()
}

impl Site<'_> {
    pub(super) fn check_needs(&mut self, way: &Way, shapes: &[StepShape]) {
        for (index, shape) in shapes.iter().enumerate() {
            let way = way.index(index).key("needs");
            self.mistakes.at_most(&way, given(shape).len(), MAX_EVENTS_NAMED, "events");
            for (at, text) in given(shape).iter().enumerate() {
                // A single need stands there without a list.
                self.check_need(&way.index(at), text, index, shapes);
            }
        }
    }

    fn check_need(&mut self, way: &Way, text: &str, index: usize, shapes: &[StepShape]) {
        let Some(need) = read(text) else {
            let message = "an event is named by its step and itself, such as create.Approved";
            self.mistakes.add(way, message);
            return;
        };
        let Some(found) = shapes.iter().position(|shape| shape.id == need.step) else {
            let known = shapes.iter().map(|shape| shape.id.as_str());
            let message = format!("there is no step {}", need.step);
            self.mistakes.unknown(way, &need.step, known, message);
            return;
        };
        if found >= index {
            let message = match cycle(shapes, index) {
                Some(cycle) => format!("steps wait for each other: {}", cycle.join(" needs ")),
                None => format!(
                    "{} comes after this step, and steps are done in their order; move it before",
                    need.step
                ),
            };
            self.mistakes.add(way, message);
            return;
        }
        let events = shapes.get(found).map(told).unwrap_or_default();
        if !events.contains(need.event.as_str()) {
            let message = match events.is_empty() {
                true => format!("{} tells no event", need.step),
                false => format!("{} tells no event {}", need.step, need.event),
            };
            self.mistakes.unknown(way, &need.event, events, message);
        }
    }
}

/// The steps of a circle that leads back to `start`, if there is one: the first it finds.
fn cycle(shapes: &[StepShape], start: usize) -> Option<Vec<String>> {
    let name = |index: usize| shapes.get(index).map(|shape| shape.id.clone()).unwrap_or_default();
    let mut ways = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop() {
        let here = way.last().copied().unwrap_or(start);
        let next = shapes.get(here).map(of).unwrap_or_default();
        for need in next {
            let Some(found) = shapes.iter().position(|shape| shape.id == need.step) else {
                continue;
            };
            if found == start {
                return Some(way.iter().chain([&start]).map(|index| name(*index)).collect());
            }
            if seen.insert(found) {
                let mut longer = way.clone();
                longer.push(found);
                ways.push(longer);
            }
        }
    }
    None
}
