//! Prints figures, takes the middle of several tries, and sees that none that was promised is left out.

use std::io::{self, Write as _};
use std::sync::{Mutex, PoisonError};

use anyhow::ensure;

/// What each bench must print, under the names that goals and comparisons go by; it may print more.
pub const PROMISED: &[&str] = &[
    "http.healthz_ratio",
    "http.auth_ratio",
    "http.login_storm_rss_mb",
    "http.start_cpu_ms",
    "http.binary_mb",
    "http.rss_mb",
    "breaker.closed_sync",
    "breaker.closed_async",
    "breaker.open_reject",
    "breaker.rolling_100",
    "breaker.rolling_10000",
    "breaker.count_ring",
    "breaker.two_threads",
    "breaker.registry_bytes",
    "events.fanout_5000_p99_ms",
    "events.fanout_5000_rss_mb",
    "events.cpu_us_per_delivery",
    "events.commit_cost_pct",
    "events.org_ceiling_tx",
    "events.commit_to_client_p50_ms",
    "events.across_instances_p50_ms",
    "jobs.rate_c1",
    "jobs.rate_c10",
    "jobs.rate_c24",
    "jobs.cpu_ms",
    "jobs.pickup_p50_ms",
    "jobs.enqueue_batch_rate",
    "poll.cpu_ms",
    "poll.bare_client_ratio",
    "poll.on_time_pct",
    "poll.false_timeouts",
    "poll.rss_mb",
    "poll.api_services_p99_ms",
    "poll.api_board_p99_ms",
    "poll.api_wallboard_p99_ms",
    "poll.api_graph_p99_ms",
    "poll.bytes_per_point",
    "poll.sim_growth",
    "poll.takeover_p99_s",
    "graph.update_us",
    "graph.at_ms",
    "poll.postgres_cpu_ms",
    "poll.postgres.on_time_pct",
    "ui.first_load_kib",
    "ui.services_5000_paint_ms",
    "ui.filter_ms",
    "ui.scroll_long_tasks",
    "ui.graph_2000_ms",
    "ui.heap_growth_mb",
    "poller.late_p99_ms",
    "poller.bytes_each",
    "poller.stop_all_ms",
    "reports.upload_rss_mb",
    "reports.overhead_ms",
    "journeys.step_cpu_ms",
    "fleet.sweep_500_s",
    "fleet.detect_p99_s",
    "fleet.events_per_change",
];

static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Prints `figure <name> <value> <unit>`.
///
/// # Errors
/// When standard output is closed.
pub fn print(name: &str, value: f64, unit: &str) -> io::Result<()> {
    PRINTED.lock().unwrap_or_else(PoisonError::into_inner).push(name.to_owned());
    writeln!(io::stdout(), "{}", line(name, value, unit))
}

/// Ends a bench: an error when it has left out a figure that it promises.
///
/// # Errors
/// When one is missing.
pub fn finish(bench: &str) -> anyhow::Result<()> {
    let printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = missing(bench, &printed);
    ensure!(missing.is_empty(), "the bench {bench} did not print {}", missing.join(", "));
    Ok(())
}

/// The middle of the tries: one that was disturbed does not move it.
#[must_use]
pub fn median(mut tries: Vec<f64>) -> f64 {
    tries.sort_by(f64::total_cmp);
    tries.get(tries.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Small values have more digits: a hundredth of 0.02 ms is much.
fn line(name: &str, value: f64, unit: &str) -> String {
    let digits = if value.abs() < 1.0 { 4 } else { 2 };
    format!("figure {name} {value:.digits$} {unit}")
}

fn missing(bench: &str, printed: &[String]) -> Vec<&'static str> {
    // The graph is measured with the polls that change it.
    let of_bench = |name: &&str| match name.split('.').next() {
        Some("graph") => bench == "poll",
        first => first == Some(bench),
    };
    let promised = PROMISED.iter().copied().filter(of_bench);
    promised.filter(|name| !printed.iter().any(|one| one == name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_disturbed_try_does_not_move_the_middle() {
        assert!((median(vec![3.0, 1000.0, 1.0]) - 3.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_small_value_keeps_its_digits() {
        assert_eq!(line("jobs.cpu_ms", 0.0163, "ms"), "figure jobs.cpu_ms 0.0163 ms");
        assert_eq!(line("jobs.rate_c1", 17_900.0, "jobs/s"), "figure jobs.rate_c1 17900.00 jobs/s");
    }

    #[test]
    fn a_figure_that_was_left_out_is_named() {
        let mut printed: Vec<String> = PROMISED.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(missing("jobs", &printed), Vec::<&str>::new());
        printed.retain(|name| name != "jobs.rate_c10");
        assert_eq!(missing("jobs", &printed), ["jobs.rate_c10"]);
        assert_eq!(missing("http", &printed), Vec::<&str>::new());
    }

    #[test]
    fn what_is_promised_stands_in_the_table_of_figures() {
        let folder = env!("CARGO_MANIFEST_DIR");
        let table = std::fs::read_to_string(format!("{folder}/../docs/performance.md")).unwrap();
        for name in PROMISED {
            assert!(table.contains(&format!("`{name}`")), "docs/performance.md lacks {name}");
        }
    }
}
