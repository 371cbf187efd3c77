//! What each unhealthy service has to do with what is broken. Pure.

use std::collections::HashMap;

use mainstay_graph::Key;

use super::item::BoardCause;
use crate::graph::Picture;

/// By the numbers of the services.
pub(in crate::views) type Blamed = HashMap<i64, BoardCause>;

/// Every unhealthy service of a picture.
pub(in crate::views) fn of(picture: &Picture) -> Blamed {
    let mut blamed = Blamed::new();
    for node in picture.snapshot.nodes() {
        let Key::Service(number) = node.key else { break };
        if node.status.is_unhealthy() {
            blamed.insert(number, BoardCause::Affected);
        }
    }
    let members = picture.causes.roots.iter().flat_map(|root| &root.members);
    for node in members.filter_map(|&member| picture.snapshot.node(member)) {
        if let Key::Service(number) = node.key {
            blamed.insert(number, BoardCause::Root);
        }
    }
    blamed
}
