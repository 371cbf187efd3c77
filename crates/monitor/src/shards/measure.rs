//! What is told of shards.

/// Names what the metrics mean.
pub fn describe_metrics() {
    metrics::describe_gauge!(
        "mainstay_shards_owned",
        "Shards of all hosts that this instance polls, of 64."
    );
    metrics::describe_counter!(
        "mainstay_shard_takeovers_total",
        "Shards that this instance took, by why they were free: released, or their owner was lost."
    );
    metrics::describe_counter!(
        "mainstay_shards_handed_over_total",
        "Shards that this instance released to others."
    );
    metrics::describe_counter!(
        "mainstay_shards_lost_total",
        "Shards that others took from this instance, because it had not renewed."
    );
    metrics::describe_counter!(
        "mainstay_lease_renewals_failed_total",
        "Looks at the leases that failed. Seven seconds without one that succeeds, and polling stops."
    );
}

pub(super) fn owned(shards: usize) {
    #[expect(clippy::cast_precision_loss, reason = "there are 64")]
    metrics::gauge!("mainstay_shards_owned").set(shards as f64);
}

pub(super) fn taken(why: &'static str, shards: usize) {
    if shards > 0 {
        metrics::counter!("mainstay_shard_takeovers_total", "why" => why).increment(count(shards));
    }
}

pub(super) fn handed_over(shards: usize) {
    metrics::counter!("mainstay_shards_handed_over_total").increment(count(shards));
}

pub(super) fn lost(shards: usize) {
    metrics::counter!("mainstay_shards_lost_total").increment(count(shards));
}

pub(super) fn renewal_failed() {
    metrics::counter!("mainstay_lease_renewals_failed_total").increment(1);
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
