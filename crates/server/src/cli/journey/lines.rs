//! Shows a run as plain lines: for pipelines and files.

use mainstay_journeys::report::StepState;
use mainstay_journeys::{News, Observer, RunRecord};

use super::words;
use crate::output::write_stdout;

/// Writes a line for each thing that happens.
pub(super) struct Lines;

impl Observer for Lines {
    fn tell(&self, news: &News<'_>) {
        if let Some(line) = line(news) {
            // Whoever went away has no need of the rest.
            let _ = write_stdout(&format!("{line}\n"));
        }
    }
}

/// The last lines.
pub(super) fn end(run: &RunRecord) -> String {
    let skipped = run.steps.iter().filter(|step| step.state == StepState::Skipped);
    let skipped = skipped.map(|step| format!("skip   {}\n", words::step(step)));
    let word = if run.is_passed() { "warning" } else { "FAILED" };
    let failures = run.failures.iter().map(|one| format!("{word} {}\n", words::failure(one)));
    let sum = words::plain(&format!("{}: {}", run.journey, words::sum(run)));
    skipped.chain(failures).chain([format!("{sum}\n")]).collect()
}

fn line(news: &News<'_>) -> Option<String> {
    match news {
        News::StepEnded(step) => {
            let word = if step.state == StepState::Passed { "ok    " } else { "failed" };
            Some(format!("{word} {}", words::step(step)))
        }
        News::Event(event) => Some(format!("event  {}", words::event(event))),
        News::PollerEnded { step, error: Some(error) } => {
            Some(format!("failed {}", words::plain(&format!("{step}, polling: {error}"))))
        }
        News::PollerEnded { step, error: None } => {
            Some(format!("ok     {}", words::plain(&format!("{step}, polling"))))
        }
        _ => None,
    }
}
