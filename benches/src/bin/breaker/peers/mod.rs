//! The peers, each as its documentation sets it up for the same duty.

mod breaker;
mod circuitbreaker_rs;
mod failsafe;
mod incomplete;
mod recloser;
mod seatbelt;
mod tower_resilience;

use std::any::Any;
use std::time::Duration;

use crate::cases::Case;
use crate::memory::map;

/// The name of the breaker of this house.
pub(crate) const OURS: &str = "mainstay";
/// How many failures in a row open a breaker.
pub(crate) const FAILURES: u8 = 5;
/// How long it stays open: longer than the bench runs.
pub(crate) const OPEN: Duration = Duration::from_secs(3_600);
/// How long a time window is. What is measured in it is far less, so that nothing leaves it.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);
/// The share of failures that opens a breaker.
pub(crate) const RATE: f32 = 0.5;

/// Many breakers, kept only to be weighed.
pub(crate) type Breakers = Box<dyn Any>;

/// Builds so many breakers.
pub(crate) type Build = fn(u32) -> anyhow::Result<Breakers>;

/// How each contestant builds so many breakers.
pub(crate) const BREAKERS: &[(&str, Build)] = &[
    (OURS, crate::ours::many),
    ("failsafe", |count| map(count, failsafe::consecutive)),
    ("recloser", |count| map(count, || recloser::ring(recloser::LENGTH))),
    (breaker::NAME, |count| map(count, breaker::consecutive)),
    ("circuitbreaker_rs", |count| map(count, circuitbreaker_rs::consecutive)),
    ("tower_resilience", tower_resilience::many),
];

/// Enters all peers.
pub(crate) fn enter(cases: &mut Vec<Case>) -> anyhow::Result<()> {
    failsafe::enter(cases)?;
    recloser::enter(cases)?;
    breaker::enter(cases)?;
    seatbelt::enter(cases)?;
    circuitbreaker_rs::enter(cases);
    tower_resilience::enter(cases)?;
    incomplete::enter(cases);
    Ok(())
}

/// A breaker that lives as long as the bench, so that calls and threads share it by reference.
pub(crate) fn share<T>(breaker: T) -> &'static T {
    Box::leak(Box::new(breaker))
}
