//! The pure guards in front of an outside call, in the order a caller passes them: [`due`] says who
//! is to be called, by the rules of [`interval`] → [`host_slots`] how many at once, by [`host_key`] →
//! [`flight`] makes one request of many → [`backoff`] says how long to wait after a failure.
//! [`throttle`] stands in front of our own door: how often somebody may come. [`limit`] is what a
//! bound must be.
//!
//! Nothing here waits, reads a clock, draws a random number or touches the outside: `now` and
//! chance are arguments. So the rules can be tested against plain models, and a caller may keep
//! these tables behind a lock, in one task, or in a simulation.
//!
//! # Who is due
//!
//! ```
//! use mainstay_base::Moment;
//! use mainstay_kernel::{DueSchedule, next_due_after};
//! use std::time::Duration;
//!
//! let at = |seconds| Moment::from_origin(Duration::from_secs(seconds));
//! let mut schedule = DueSchedule::default();
//! schedule.schedule("orders", at(10))?;
//! schedule.schedule("payments", at(5))?;
//!
//! let due = schedule.pop_due(at(7), 100);
//! assert_eq!(due.first().map(|one| one.key), Some("payments"));
//!
//! // The interval runs from when it was due, not from when it was polled.
//! let next = next_due_after(at(5), Duration::from_secs(5), at(7));
//! assert_eq!(next, at(10));
//! # Ok::<(), mainstay_kernel::ScheduleFull>(())
//! ```
//!
//! # How many at once per host
//!
//! ```
//! use mainstay_kernel::{HostKey, HostLimits, HostSlots};
//!
//! let mut slots = HostSlots::new(HostLimits::new(1, 100)?);
//! let host: HostKey = "Payments.Example.org:8443".parse()?;
//!
//! let slot = slots.acquire(&host)?;
//! assert!(slots.acquire(&host).is_err(), "skip it until the next tick");
//! slots.release(slot)?;
//! assert!(slots.acquire(&host).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One request for many askers
//!
//! ```
//! use mainstay_kernel::{Flights, Role};
//!
//! let mut flights = Flights::default();
//! let url = "https://payments.example.org/health";
//! let Role::Leader(generation) = flights.join(url, "orders")? else { unreachable!() };
//! assert_eq!(flights.join(url, "checkout")?, Role::Follower(generation));
//!
//! // The leader has made the request: its answer is for everyone aboard, once.
//! assert_eq!(flights.land(&url, generation)?, ["orders", "checkout"]);
//! assert!(flights.land(&url, generation).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How long to wait after a failure
//!
//! ```
//! use mainstay_base::SystemRng;
//! use mainstay_kernel::{Backoff, BackoffPolicy};
//! use std::time::Duration;
//!
//! let policy = BackoffPolicy::default();
//! let mut backoff = Backoff::default();
//! assert_eq!(backoff.next_delay(&policy, Duration::ZERO, &SystemRng), Duration::from_secs(1));
//! assert_eq!(backoff.next_delay(&policy, Duration::ZERO, &SystemRng), Duration::from_secs(2));
//! backoff.reset();
//! assert_eq!(backoff.attempt(), 0);
//! ```
//!
//! # How often somebody may come
//!
//! ```
//! use mainstay_base::Moment;
//! use mainstay_kernel::{Rate, Throttle};
//! use std::time::Duration;
//!
//! let rate = Rate::new(10, Duration::from_secs(1), 2)?;
//! let now = Moment::from_origin(Duration::from_secs(60));
//! let mut throttle = Throttle::default();
//! assert!(throttle.admit(&rate, now).is_ok());
//! assert!(throttle.admit(&rate, now).is_ok());
//! let refused = throttle.admit(&rate, now).unwrap_err();
//! assert_eq!(refused.retry_after, Duration::from_millis(100));
//! # Ok::<(), mainstay_kernel::ZeroLimit>(())
//! ```

pub mod backoff;
pub mod due;
pub mod flight;
pub mod host_key;
pub mod host_slots;
pub mod interval;
pub mod limit;
pub mod throttle;

pub use backoff::{Backoff, BackoffError, BackoffPolicy};
pub use due::{Due, DueSchedule, ScheduleFull, Ticket};
pub use flight::{
    Departure, FlightLimits, FlightRefusal, Flights, Generation, Handover, NotAboard, Role,
    StaleFlight,
};
pub use host_key::{HostKey, HostKeyError};
pub use host_slots::{
    ForeignSlot, HostLimits, HostSlots, Slot, SlotRefusal, sort_least_recent_first,
};
pub use interval::{next_due_after, spread};
pub use limit::ZeroLimit;
pub use throttle::{Rate, Throttle, Throttled};
