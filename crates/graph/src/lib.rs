//! The dependency graph: what leans on what, how it is, and because of what.
//!
//! Data moves one way: a [`change`] tells what became of a service or of what it reports → the
//! [`graph`] takes it in, at the cost of what changed → a [`snapshot`] is the graph at one moment, dense
//! and immutable, in an order that does not depend on how it came about → [`components`] finds what
//! leans on itself in a circle, [`causes`] tells what is broken because of what, [`radius`] whom a node
//! hurts, [`around`] what stands near it, [`layout`] where to draw it, [`suggest`] which external thing
//! may be a service. [`status`] is how anything is, in one word.
//!
//! Nothing here waits, reads a clock or touches the outside.
//!
//! ```
//! use mainstay_base::{Id, Timestamp};
//! use mainstay_graph::{Change, Dependency, Graph, Node, Service, Status, causes};
//!
//! let id = |text: &str| text.parse::<Id>();
//! let since = Timestamp::from_millis(0);
//! let mut graph = Graph::default();
//! graph.apply(Change::Service(Service {
//!     number: 1,
//!     id: id("019a8b3c-0000-7000-8000-000000000001")?,
//!     name: "Checkout".into(),
//!     host: None,
//!     status: Status::Degraded,
//!     since,
//!     failing_since: None,
//!     stale_since: None,
//! }));
//! graph.apply(Change::Dependencies {
//!     service: 1,
//!     dependencies: vec![Dependency {
//!         number: 1,
//!         id: id("019a8b3c-0000-7000-8000-000000000002")?,
//!         name: "Orders database".into(),
//!         status: Status::Down,
//!         since,
//!         failing_since: None,
//!         missing_since: None,
//!         linked: None,
//!         hosts: Box::default(),
//!     }],
//! });
//!
//! let snapshot = graph.snapshot();
//! let causes = causes::find(&snapshot);
//! let named: Vec<&str> = causes.roots.iter().flat_map(|root| &root.members)
//!     .filter_map(|&node| snapshot.node(node)).map(|node: &Node| &*node.name).collect();
//! assert_eq!(named, ["Orders database"]);
//! # Ok::<(), mainstay_base::IdError>(())
//! ```

pub mod around;
pub mod causes;
pub mod change;
pub mod components;
mod dense;
pub mod graph;
pub mod layout;
pub mod radius;
pub mod snapshot;
pub mod status;
pub mod suggest;

pub use causes::{Causes, Root};
pub use change::{Change, Dependency, Key, Service};
pub use graph::Graph;
pub use layout::{Place, Places};
pub use radius::Hurt;
pub use snapshot::{Edge, Node, Snapshot};
pub use status::Status;
pub use suggest::{Reason, Suggestion};
