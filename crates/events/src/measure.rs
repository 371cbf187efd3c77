//! What the streams tell about themselves. Labels are bounded: a stream is told by its kind.

use metrics::{
    Counter, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};

use crate::doorbell::Topic;
use crate::stream::Stream;

/// The upper ends of the buckets for the time from a write to the hub, in seconds.
pub const METRIC_BUCKETS: &[f64] =
    &[0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0];

const WRITTEN: &str = "mainstay_events_written_total";
const RUNG: &str = "mainstay_events_bells_rung_total";
const RING_FAILURES: &str = "mainstay_events_bell_failures_total";
const HEARD: &str = "mainstay_events_bells_heard_total";
const LOST: &str = "mainstay_events_bells_lost_total";
const CONNECTS: &str = "mainstay_events_listener_connects_total";
const REPLACED: &str = "mainstay_events_listener_replaced_total";
const LISTENING: &str = "mainstay_events_listening";
const FOLLOWERS: &str = "mainstay_events_followers";
const DELIVERED: &str = "mainstay_events_delivered_total";
const READS: &str = "mainstay_events_reads_total";
/// The histogram of lags; the recorder needs [`METRIC_BUCKETS`] for it.
pub const DELIVERY_LAG: &str = "mainstay_events_delivery_lag_seconds";
const CONNECTIONS: &str = "mainstay_events_connections";
const SUPERSEDED: &str = "mainstay_events_connections_superseded_total";
const REMOVED: &str = "mainstay_events_removed_total";

/// Gives each metric its help text. Call it once, after the recorder is installed.
pub fn describe_metrics() {
    describe_counter!(WRITTEN, "Events committed, by kind of stream.");
    describe_counter!(RUNG, "Bells rung for other instances, by topic.");
    describe_counter!(RING_FAILURES, "Times the bells for other instances could not be rung.");
    describe_counter!(HEARD, "Bells heard from the database, by topic.");
    describe_counter!(
        LOST,
        "Bells that were not heard: of streams with events that only a look found, and of an instance's own marks."
    );
    describe_counter!(CONNECTS, "Listening connections made, by outcome.");
    describe_counter!(REPLACED, "Listening connections given up because they seemed deaf.");
    describe_gauge!(LISTENING, "Whether this instance hears the bells of others (1) or not (0).");
    describe_gauge!(FOLLOWERS, "Followers of this instance, by kind of stream.");
    describe_counter!(DELIVERED, "Events given to followers, by where they came from.");
    describe_counter!(READS, "Pages of events read from the database, by who needed them.");
    describe_histogram!(
        DELIVERY_LAG,
        Unit::Seconds,
        "Time from an event's write to its arrival in the hub."
    );
    describe_gauge!(CONNECTIONS, "Live connections of this instance.");
    describe_counter!(SUPERSEDED, "Connections that a newer one of the same owner superseded.");
    describe_counter!(REMOVED, "Events removed because they were too old or too many.");
}

pub(crate) fn written(stream: Stream, count: u64) {
    counter!(WRITTEN, "stream" => stream.kind()).increment(count);
}

pub(crate) fn rung(topic: &'static str) {
    counter!(RUNG, "topic" => topic).increment(1);
}

pub(crate) fn ring_failed() {
    counter!(RING_FAILURES).increment(1);
}

pub(crate) fn heard(topic: Topic) {
    counter!(HEARD, "topic" => topic.name()).increment(1);
}

pub(crate) fn lost(bells: u64) {
    counter!(LOST).increment(bells);
}

pub(crate) fn connected(is_well: bool) {
    let outcome = if is_well { "connected" } else { "failed" };
    counter!(CONNECTS, "outcome" => outcome).increment(1);
}

pub(crate) fn replaced() {
    counter!(REPLACED).increment(1);
}

pub(crate) fn listening(is_listening: bool) {
    gauge!(LISTENING).set(if is_listening { 1.0 } else { 0.0 });
}

pub(crate) fn followers(stream: Stream, change: f64) {
    gauge!(FOLLOWERS, "stream" => stream.kind()).increment(change);
}

/// Counts what one follower gets, without looking the counters up for each event.
#[derive(Clone)]
pub(crate) struct Delivered {
    pub(crate) from_ring: Counter,
    pub(crate) from_database: Counter,
}

impl Delivered {
    pub(crate) fn new() -> Self {
        Self {
            from_ring: counter!(DELIVERED, "from" => "ring"),
            from_database: counter!(DELIVERED, "from" => "database"),
        }
    }
}

pub(crate) fn read(whose: &'static str) {
    counter!(READS, "for" => whose).increment(1);
}

pub(crate) fn lag(seconds: f64) {
    histogram!(DELIVERY_LAG).record(seconds);
}

pub(crate) fn connections(change: f64) {
    gauge!(CONNECTIONS).increment(change);
}

pub(crate) fn superseded(count: u64) {
    counter!(SUPERSEDED).increment(count);
}

pub(crate) fn removed(count: u64) {
    counter!(REMOVED).increment(count);
}
