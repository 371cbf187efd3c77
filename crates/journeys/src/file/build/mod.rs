//! Makes a journey of a file, and finds every mistake on the way: `names` (who is known where), `request`,
//! `expect`, `poll`, `needs` (who waits for whom).

mod expect;
mod names;
mod needs;
mod poll;
mod request;

use std::collections::BTreeSet;
use std::time::Duration;

use mainstay_base::is_hidden;

use super::forms::Span;
use super::mistakes::{Mistakes, Way};
use super::shape::{JourneyFile, StepShape};
use crate::bounds::{
    DEFAULT_RUN, MAX_CAPTURES, MAX_EVENTS_NAMED, MAX_EVERY, MAX_NAME, MAX_RUN, MAX_STEPS,
    MAX_TOUCHES, MAX_VARS, MIN_EVERY,
};
use crate::model::{Capture, Journey, Step};
use crate::path::Path;
use names::Names;

/// What every part of the building needs.
struct Site<'a> {
    mistakes: &'a mut Mistakes,
    names: Names,
}

/// The journey. There is one only where nothing was wrong that keeps it from being built.
pub(super) fn journey(file: &JourneyFile, mistakes: &mut Mistakes) -> Option<Journey> {
    let root = Way::default();
    let mut site = Site { mistakes, names: Names::default() };
    let name = site.text(&root.key("journey"), &file.journey, MAX_NAME);
    let every =
        file.every.and_then(|every| site.span(&root.key("every"), every, MIN_EVERY, MAX_EVERY));
    let within = file.within.unwrap_or(Span(DEFAULT_RUN));
    let within = site.span(&root.key("within"), within, Duration::from_millis(1), MAX_RUN);
    let touches = site.touches(&root.key("touches"), file.touches.as_deref().unwrap_or_default());
    let vars = file.vars.clone().unwrap_or_default();
    site.mistakes.at_most(&root.key("vars"), vars.len(), MAX_VARS, "variables");
    for name in vars.keys() {
        let way = root.key("vars").key(name);
        site.declare(&way, name);
    }
    let steps = site.steps(&root.key("steps"), &file.steps);
    let mode = file.mode.unwrap_or_default();
    let secrets = site.names.secrets();
    Some(Journey {
        name: name?,
        every,
        within: within?,
        vars,
        mode,
        touches,
        steps: steps?,
        secrets,
    })
}

impl Site<'_> {
    fn steps(&mut self, way: &Way, shapes: &[StepShape]) -> Option<Vec<Step>> {
        if shapes.is_empty() {
            self.mistakes.add(way, "there are no steps; give at least one");
        }
        self.mistakes.at_most(way, shapes.len(), MAX_STEPS, "steps");
        let mut ids = BTreeSet::new();
        let mut steps = Vec::new();
        for (index, shape) in shapes.iter().take(MAX_STEPS).enumerate() {
            let way = way.index(index);
            if !ids.insert(&shape.id) {
                let message = format!("there is a step {} already; give it another name", shape.id);
                self.mistakes.add(&way.key("id"), message);
            }
            steps.push(self.step(&way, shape));
        }
        self.check_needs(way, shapes);
        steps.into_iter().collect()
    }

    fn step(&mut self, way: &Way, shape: &StepShape) -> Option<Step> {
        let id = self.word(&way.key("id"), &shape.id);
        let request = self.request(way, &shape.request());
        let expect = self.expect(&way.key("expect"), shape.expect.as_ref());
        let captures = self.captures(&way.key("capture"), shape);
        let emit = self.events(&way.key("emit"), shape.emit.as_ref().map(|emit| &emit.0));
        let poll = match &shape.poll {
            Some(poll) => Some(self.poll(&way.key("poll"), poll)?),
            None => None,
        };
        let needs = needs::of(shape);
        Some(Step { id: id?, needs, request: request?, expect: expect?, captures, emit, poll })
    }

    fn captures(&mut self, way: &Way, shape: &StepShape) -> Vec<Capture> {
        let given = shape.capture.iter().flatten();
        let mut captures = Vec::new();
        for (name, form) in given {
            let way = way.key(name);
            self.declare(&way, name);
            if let Some(path) = self.mistakes.take(&way, Path::parse(&form.path)) {
                let is_secret = form.secret.unwrap_or_else(|| names::sounds_secret(name));
                if is_secret {
                    self.hide(name);
                }
                captures.push(Capture { name: name.clone(), path, is_secret });
            }
        }
        self.mistakes.at_most(way, captures.len(), MAX_CAPTURES, "captures");
        captures
    }

    /// The names of events.
    fn events(&mut self, way: &Way, given: Option<&Vec<String>>) -> Vec<String> {
        let given = given.cloned().unwrap_or_default();
        self.mistakes.at_most(way, given.len(), MAX_EVENTS_NAMED, "events");
        for event in &given {
            self.word(way, event);
        }
        given
    }

    fn touches(&mut self, way: &Way, given: &[String]) -> Vec<String> {
        self.mistakes.at_most(way, given.len(), MAX_TOUCHES, "services");
        let (mut touches, mut seen) = (Vec::new(), BTreeSet::new());
        for (index, name) in given.iter().enumerate() {
            // Named twice, in any case, it is crossed once.
            let name = self.text(&way.index(index), name, MAX_NAME);
            touches.extend(name.filter(|name| seen.insert(name.to_lowercase())));
        }
        touches
    }

    fn text(&mut self, way: &Way, text: &str, most: usize) -> Option<String> {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            self.mistakes.add(way, "it is empty; give at least one character");
            return None;
        }
        if trimmed.chars().nth(most).is_some() {
            self.mistakes.add(way, format!("it is longer than {most} characters; shorten it"));
            return None;
        }
        if trimmed.chars().any(is_hidden) {
            self.mistakes.add(way, "it holds control or direction characters; leave them out");
            return None;
        }
        Some(trimmed.to_owned())
    }

    fn span(&mut self, way: &Way, span: Span, least: Duration, most: Duration) -> Option<Duration> {
        let Span(time) = span;
        if time < least || time > most {
            let (least, most) = (Span(least), Span(most));
            self.mistakes.add(way, format!("{span} is out of bounds: give from {least} to {most}"));
            return None;
        }
        Some(time)
    }
}
