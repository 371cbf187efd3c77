//! May this address be called? [`cidr`] → [`address`] (what an address is, however it is wrapped) →
//! [`allow`] (what the operator lets pass) → [`own`] (Mainstay's own port) → [`policy`] (the
//! judgement).
//!
//! Whoever can name an address to Mainstay can make it call: without a judge, that reaches whatever
//! the host can reach, the cloud's metadata first. An address is judged after its name is resolved,
//! and the call goes to exactly what was judged.

pub mod address;
pub mod allow;
pub mod cidr;
pub mod own;
pub mod policy;

pub use allow::{AllowError, AllowList, AllowProblem};
pub use cidr::Cidr;
pub use own::{BoundAddresses, LocalAddresses, OwnDoor};
pub use policy::{Blocked, Policy};
