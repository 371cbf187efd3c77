//! Names that resolve as a test wants.

use std::net::IpAddr;
use std::sync::Mutex;

use mainstay_outbound::web::{Resolve, ResolveError, Resolving};

/// Gives one answer after the other; the last one stays.
pub(crate) struct Scripted {
    answers: Mutex<Vec<Result<Vec<IpAddr>, ResolveError>>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    pub(crate) fn new(answers: &[&[&str]]) -> Self {
        let read = |answer: &&[&str]| Ok(answer.iter().map(|text| text.parse().unwrap()).collect());
        Self::of(answers.iter().rev().map(read).collect())
    }

    pub(crate) fn always(answer: &[&str]) -> Self {
        Self::new(&[answer])
    }

    pub(crate) fn failing(error: ResolveError) -> Self {
        Self::of(vec![Err(error)])
    }

    fn of(answers: Vec<Result<Vec<IpAddr>, ResolveError>>) -> Self {
        Self { answers: Mutex::new(answers), asked: Mutex::default() }
    }

    /// The names that were asked for.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn next(&self) -> Result<Vec<IpAddr>, ResolveError> {
        let mut answers = self.answers.lock().unwrap();
        if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() }
    }
}

impl Resolve for Scripted {
    fn resolve<'a>(&'a self, host: &'a str) -> Resolving<'a> {
        self.asked.lock().unwrap().push(host.to_owned());
        Box::pin(async { self.next() })
    }
}
