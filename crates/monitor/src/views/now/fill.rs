//! Puts together what the graph knows and what the tables hold. Pure.

use std::collections::{HashMap, HashSet};

use mainstay_base::Id;
use mainstay_graph::Status;

use super::item::{Now, NowCause, NowCounts, NowReporter};
use super::sketch::{Cause, MOST_REPORTERS, Report, Sketch};
use crate::views::record::now::Said;

pub(super) fn fill(
    sketch: Sketch,
    inactive: &HashSet<i64>,
    reports: &HashMap<Id, Said>,
    errors: &HashMap<i64, String>,
) -> Now {
    let counts = counts(&sketch, inactive);
    let is_cut = sketch.causes.len() < sketch.root_causes;
    let items = sketch.causes.into_iter().map(|one| cause(one, reports, errors)).collect();
    Now { counts, items, is_cut }
}

fn counts(sketch: &Sketch, inactive: &HashSet<i64>) -> NowCounts {
    let count = |is_wanted: &dyn Fn(bool, Status) -> bool| {
        let all = sketch.services.iter();
        all.filter(|(number, status)| is_wanted(!inactive.contains(number), *status)).count()
    };
    NowCounts {
        root_causes: sketch.root_causes,
        root_services: sketch.root_services,
        affected: sketch.affected,
        healthy: count(&|is_active, status| is_active && status == Status::Healthy),
        unknown: count(&|is_active, status| is_active && status == Status::Unknown),
        inactive: count(&|is_active, _| !is_active),
        services: sketch.services.len(),
    }
}

fn cause(cause: Cause, reports: &HashMap<Id, Said>, errors: &HashMap<i64, String>) -> NowCause {
    let heard = cause.reports.iter().flat_map(|report| &report.dependencies);
    let heard: Vec<&Said> = heard.filter_map(|id| reports.get(id)).collect();
    let own = cause.own.iter().filter_map(|id| reports.get(id));
    let poll_error = cause.services.iter().find_map(|number| errors.get(number)).cloned();
    let message = poll_error
        .or_else(|| newest_message(own))
        .or_else(|| newest_message(heard.iter().copied()));
    let reported_by = cause.reports.iter().take(MOST_REPORTERS);
    NowCause {
        error_message: message,
        impact: heard.iter().find_map(|said| said.impact.clone()),
        contact: heard.iter().find_map(|said| said.contact.clone()),
        description: heard.iter().find_map(|said| said.description.clone()),
        reported_by: reported_by.filter_map(|report| reporter(report, reports)).collect(),
        ..cause.shown
    }
}

/// What the last of those says who find it failing.
fn newest_message<'a>(all: impl Iterator<Item = &'a Said>) -> Option<String> {
    let failing = all.filter(|said| said.status.is_unhealthy() && said.error_message.is_some());
    failing.max_by_key(|said| said.since)?.error_message.clone()
}

/// It names the dependency that is as bad as all of them together.
fn reporter(report: &Report, reports: &HashMap<Id, Said>) -> Option<NowReporter> {
    let status = |id: &Id| reports.get(id).map_or(Status::Unknown, |said| said.status);
    let worst = report.dependencies.iter().find(|id| status(id) == report.status);
    Some(NowReporter {
        service_id: report.service,
        service_name: report.name.clone(),
        dependency_id: *worst.or_else(|| report.dependencies.first())?,
        status: report.status.into(),
    })
}
