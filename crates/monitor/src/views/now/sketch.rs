//! Root causes as the graph knows them. Pure.

use std::cmp::Reverse;
use std::collections::HashSet;

use mainstay_base::Id;
use mainstay_graph::{Edge, Key, Root, Status, radius};

use super::item::{NowCause, NowDispute, NowHurt};
use crate::graph::Picture;
use crate::graph::show;
use crate::report::DependencyStatus;
use crate::status::ServiceStatus;
use crate::views::board::blame::{self, Blamed};

/// The most root causes that are listed.
pub(super) const MOST_CAUSES: usize = 50;
/// The most nodes of a circle that are named.
const MOST_NODES: usize = 5;
/// The most services that are named as those who find it failing, or to be polled.
pub(super) const MOST_REPORTERS: usize = 5;
/// The most reports of one root cause that are read for what they say.
const MOST_READ: usize = 20;
/// The most services that are named as disagreeing.
const MOST_DISPUTES: usize = 5;
/// The most services that are named as hurt.
const MOST_HURT: usize = 12;

/// What the graph tells, and of whom to read more.
#[derive(Debug)]
pub(super) struct Sketch {
    pub(super) root_causes: usize,
    /// The services of each root cause that has some.
    pub(super) root_services: Vec<Vec<i64>>,
    /// How each service is.
    pub(super) services: Vec<(i64, ServiceStatus)>,
    /// What each has to do with what is broken.
    pub(super) blamed: Blamed,
    pub(super) causes: Vec<Cause>,
}

/// A root cause, without what only the tables hold.
#[derive(Debug)]
pub(super) struct Cause {
    pub(super) shown: NowCause,
    /// The services among its nodes.
    pub(super) services: Vec<i64>,
    /// Who finds it failing, the worst first.
    pub(super) reports: Vec<Report>,
    /// What a service among its nodes finds failing itself.
    pub(super) own: Vec<Id>,
    /// What those say of it who do not find it failing: they too know what it is and whom to ask.
    pub(super) others: Vec<Id>,
}

/// What one service says of it.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) service: Id,
    pub(super) name: String,
    pub(super) status: Status,
    pub(super) dependencies: Vec<Id>,
}

impl Sketch {
    /// The dependencies to read.
    pub(super) fn dependencies(&self) -> Vec<String> {
        let reported = |cause: &Cause| -> Vec<Id> {
            let of_others = cause.reports.iter().flat_map(|report| &report.dependencies);
            of_others.chain(&cause.own).chain(&cause.others).copied().collect()
        };
        let mut ids: Vec<String> =
            self.causes.iter().flat_map(reported).map(|id| id.to_string()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The services to read.
    pub(super) fn failing_services(&self) -> Vec<i64> {
        self.causes.iter().flat_map(|cause| &cause.services).copied().collect()
    }
}

pub(super) fn of(picture: &Picture) -> Sketch {
    let roots = &picture.causes.roots;
    let number = |&member: &usize| match picture.snapshot.node(member)?.key {
        Key::Service(number) => Some(number),
        Key::External(_) => None,
    };
    let root_services = roots.iter().map(|root| root.members.iter().filter_map(number).collect());
    // External things come after the services.
    let services = picture.snapshot.nodes().iter().map_while(|node| match node.key {
        Key::Service(number) => Some((number, ServiceStatus::from_name(node.status.name())?)),
        Key::External(_) => None,
    });
    Sketch {
        services: services.collect(),
        root_causes: roots.len(),
        root_services: root_services.filter(|numbers: &Vec<i64>| !numbers.is_empty()).collect(),
        blamed: blame::of(picture),
        causes: roots.iter().take(MOST_CAUSES).map(|root| cause(picture, root)).collect(),
    }
}

fn cause(picture: &Picture, root: &Root) -> Cause {
    let snapshot = &picture.snapshot;
    let members = || root.members.iter().filter_map(|&member| snapshot.node(member));
    let services = members().filter_map(|node| match node.key {
        Key::Service(number) => Some((number, node.id?)),
        Key::External(_) => None,
    });
    let services: Vec<(i64, Id)> = services.take(MOST_REPORTERS).collect();
    let (reports, reporter_count) = reports(picture, root);
    let own = root.members.iter().flat_map(|&member| snapshot.edges_of(member));
    let own = own.filter(|edge| edge.status.is_unhealthy());
    let own = own.flat_map(|edge| snapshot.dependencies(edge)).copied().take(MOST_READ).collect();
    let others = root.members.iter().flat_map(|&member| snapshot.edges_to(member));
    let others = others.filter(|edge| !edge.status.is_unhealthy());
    let others = others.flat_map(|edge| snapshot.dependencies(edge)).copied();
    let others = others.take(MOST_READ.saturating_sub(reports.len())).collect();
    let status = members().map(|node| node.status).max().unwrap_or(Status::Unknown);
    let reporters = reports.iter().map(|report: &Report| report.service).take(MOST_REPORTERS);
    let service_ids = match services.as_slice() {
        [] => reporters.collect(),
        some => some.iter().map(|&(_, id)| id).collect(),
    };
    let names = root.members.iter().take(MOST_NODES);
    Cause {
        shown: NowCause {
            nodes: names.filter_map(|&member| show::name(picture, member)).collect(),
            node_count: root.members.len(),
            status: status.into(),
            since: root.failing_since,
            status_since: root.status_since,
            hurts: root.hurts,
            affected: root.affected,
            contradicted: root.contradicted,
            error_message: None,
            impact: None,
            contact: None,
            description: None,
            team: None,
            disputes: disputes(picture, root),
            reported_by: Vec::new(),
            reporter_count,
            hurt: hurt(picture, &root.members),
            service_ids,
        },
        services: services.into_iter().map(|(number, _)| number).collect(),
        reports,
        own,
        others,
    }
}

/// Who outside finds it failing, the worst first, and how many there are.
fn reports(picture: &Picture, root: &Root) -> (Vec<Report>, usize) {
    let snapshot = &picture.snapshot;
    let own: HashSet<usize> = root.members.iter().copied().collect();
    let heard = root.members.iter().flat_map(|&member| snapshot.edges_to(member));
    let mut heard: Vec<&Edge> =
        heard.filter(|edge| edge.status.is_unhealthy() && !own.contains(&edge.from)).collect();
    let count = heard.len();
    heard.sort_by_key(|edge| (Reverse(edge.status), edge.since, edge.from));
    let reports = heard.into_iter().take(MOST_READ).filter_map(|edge| {
        let service = snapshot.node(edge.from)?;
        Some(Report {
            service: service.id?,
            name: service.name.to_string(),
            status: edge.status,
            dependencies: snapshot.dependencies(edge).to_vec(),
        })
    });
    (reports.collect(), count)
}

/// Who says the opposite of how it is comes before those of whom it says so.
fn disputes(picture: &Picture, root: &Root) -> Vec<NowDispute> {
    let snapshot = &picture.snapshot;
    let heard = root.members.iter().flat_map(|&member| snapshot.edges_to(member));
    let said = root.members.iter().flat_map(|&member| snapshot.edges_of(member));
    let disputed = heard.chain(said).filter(|edge| edge.contradicts).filter_map(|edge| {
        let (by, of) = (show::name(picture, edge.from)?, show::name(picture, edge.to)?);
        Some(NowDispute { by, of, says: edge.status.into() })
    });
    disputed.take(MOST_DISPUTES).collect()
}

/// Whom nodes hurt that fail together: first who is affected. The others stand there only if all who are
/// affected do.
pub(in crate::views) fn hurt(picture: &Picture, places: &[usize]) -> Vec<NowHurt> {
    let snapshot = &picture.snapshot;
    let status = |&place: &usize| snapshot.node(place).map(|node| node.status);
    let mut all = match places.iter().filter_map(status).any(Status::is_unhealthy) {
        true => radius::affected(snapshot, places, MOST_HURT),
        false => Vec::new(),
    };
    let affected: HashSet<usize> = all.iter().map(|one| one.place).collect();
    let nearest = radius::nearest(snapshot, places, MOST_HURT.saturating_add(all.len()));
    all.extend(nearest.into_iter().filter(|one| !affected.contains(&one.place)));
    let named = all.iter().take(MOST_HURT).filter_map(|one| {
        let service = snapshot.node(one.place)?;
        Some(NowHurt {
            id: show::id(service),
            name: service.name.to_string(),
            status: DependencyStatus::from(service.status),
            affected: affected.contains(&one.place),
            distance: one.distance,
            via: show::id(snapshot.node(one.via)?),
        })
    });
    named.collect()
}
