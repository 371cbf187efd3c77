//! Puts together what the graph knows and what the tables hold. Pure.

use std::collections::{HashMap, HashSet};

use mainstay_base::Id;
use mainstay_graph::Status;

use super::item::{Now, NowCause, NowCounts, NowReporter};
use super::sketch::{Cause, MOST_REPORTERS, Report, Sketch};
use crate::status::ServiceStatus;
use crate::views::board::BoardCause;
use crate::views::record::now::{Failing, Said, Unpolled};
use crate::views::shown;

pub(super) fn fill(
    sketch: Sketch,
    unpolled: &Unpolled,
    reports: &HashMap<Id, Said>,
    services: &HashMap<i64, Failing>,
) -> Now {
    let counts = counts(&sketch, unpolled);
    let is_cut = sketch.causes.len() < sketch.root_causes;
    let items = sketch.causes.into_iter().map(|one| cause(one, reports, services)).collect();
    Now { counts, items, is_cut }
}

/// By the rule that the board goes by.
fn counts(sketch: &Sketch, unpolled: &Unpolled) -> NowCounts {
    let mut counts = NowCounts {
        root_causes: sketch.root_causes,
        services: sketch.services.len(),
        ..NowCounts::default()
    };
    let mut failing = HashSet::new();
    for &(number, recorded) in &sketch.services {
        if unpolled.inactive.contains(&number) {
            counts.inactive = counts.inactive.saturating_add(1);
            continue;
        }
        let status = shown::status(recorded, unpolled.overdue.contains(&number));
        let count = match (status, shown::cause(sketch.blamed.get(&number).copied(), status)) {
            (_, Some(BoardCause::Root)) => {
                failing.insert(number);
                continue;
            }
            (_, Some(BoardCause::Affected)) => &mut counts.affected,
            (ServiceStatus::Healthy, None) => &mut counts.healthy,
            (ServiceStatus::Unknown, None) => &mut counts.unknown,
            // In the graph whoever is unhealthy has a cause.
            (ServiceStatus::Degraded | ServiceStatus::Down, None) => continue,
        };
        *count = count.saturating_add(1);
    }
    let fails = |numbers: &&Vec<i64>| numbers.iter().any(|number| failing.contains(number));
    counts.root_services = sketch.root_services.iter().filter(fails).count();
    counts
}

fn cause(cause: Cause, reports: &HashMap<Id, Said>, services: &HashMap<i64, Failing>) -> NowCause {
    let heard = cause.reports.iter().flat_map(|report| &report.dependencies);
    let heard: Vec<&Said> = heard.filter_map(|id| reports.get(id)).collect();
    let others = cause.others.iter().filter_map(|id| reports.get(id));
    // Who is not hurt knows too what it is and whom to ask.
    let known: Vec<&Said> = heard.iter().copied().chain(others).collect();
    let own = cause.own.iter().filter_map(|id| reports.get(id));
    let failing = || cause.services.iter().filter_map(|number| services.get(number));
    let message = failing()
        .find_map(|service| service.error_message.clone())
        .or_else(|| newest_message(own))
        .or_else(|| newest_message(heard.iter().copied()));
    let reported_by = cause.reports.iter().take(MOST_REPORTERS);
    NowCause {
        error_message: message,
        impact: known.iter().find_map(|said| said.impact.clone()),
        contact: known.iter().find_map(|said| said.contact.clone()),
        description: known.iter().find_map(|said| said.description.clone()),
        team: failing().find_map(|service| service.team.clone()),
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
