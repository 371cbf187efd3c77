//! What people are shown of services and dependencies, and of what became of them.
//!
//! [`Views`] reads by `record` (all SQL): [`service`] and its list, [`dependency`], their histories,
//! [`timeline`] (pure, over rows), [`activity`] and its last [`moments`], what is broken [`now`], one [`node`] of the graph, as
//! it is and as it was ([`node_then`]), and all of it at a glance:
//! [`board`].

pub mod activity;
pub mod board;
pub mod dependency;
mod handle;
pub mod history;
pub(crate) mod holding;
pub mod list;
pub mod moments;
pub mod node;
pub mod node_then;
pub mod now;
pub(crate) mod record;
pub mod service;
mod shown;
pub mod timeline;

pub use activity::{Activity, ActivityFilter, ActivityItem, ActivityOf, LOOKED_THROUGH, Unstable};
pub use board::{Board, BoardCause, BoardError, BoardItem, Strip, Strips, Wallboard};
pub use dependency::Dependency;
pub use handle::{MISSING_SHOWN_FOR, UNSTABLE_WITHIN, Views, Whole};
pub use history::{DependencyError, PollHistoryItem};
pub use list::{ListAsk, Part, Place, ServiceFilter, Sort};
pub use moments::{Moment, MomentNode, Moments};
pub use node::{NodeDetail, NodeReport};
pub use node_then::{DependencyThen, NodeThen, ReportThen};
pub use now::{Now, NowCause, NowCounts, NowDispute, NowHurt, NowReporter};
pub use service::{BreakerView, DependencyCounts, LastPoll, Service, ServiceDetail};
pub use timeline::{Timeline, Transition};
