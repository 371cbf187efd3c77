//! What the instance says of itself at `/metrics`.

use anyhow::Context as _;
use mainstay_benches::exchange::exchange;

/// One look at the metrics.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readings {
    text: String,
}

impl Readings {
    pub(crate) async fn of(address: &str) -> anyhow::Result<Self> {
        let request =
            format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        let text = exchange(address, &request).await?;
        anyhow::ensure!(text.starts_with("HTTP/1.1 200"), "/metrics answers {text:.60}");
        Ok(Self { text })
    }

    /// The sum of all series of `name` whose labels hold `label`, and no other.
    pub(crate) fn sum(&self, name: &str, label: &str) -> f64 {
        self.series(name).filter(|(labels, _)| labels.contains(label)).map(|(_, value)| value).sum()
    }

    /// Polls that ended otherwise than well.
    pub(crate) fn failures(&self) -> f64 {
        let all = self.sum("mainstay_polls_total", "");
        all - self.sum("mainstay_polls_total", "outcome=\"success\"")
    }

    /// Results that stand in the database.
    pub(crate) fn recorded(&self) -> f64 {
        self.sum("mainstay_recorder_results_total", "outcome=\"written\"")
    }

    fn series<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (&'a str, f64)> {
        self.text.lines().filter_map(move |line| {
            let rest = line.strip_prefix(name)?;
            let (labels, value) = rest.rsplit_once(' ')?;
            let is_whole = labels.is_empty() || labels.starts_with('{');
            is_whole.then_some((labels, value.parse().ok()?))
        })
    }

    /// A name that has no series yet is a name that is spelled wrong, once there were polls.
    pub(crate) fn expect(&self, name: &str) -> anyhow::Result<()> {
        self.series(name).next().map(drop).with_context(|| format!("/metrics has no {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_added_up_by_name_and_label() {
        let text = "# HELP polls_total of all\n\
             mainstay_polls_total{outcome=\"success\"} 7\n\
             mainstay_polls_total{outcome=\"timeout\"} 2\n\
             mainstay_polls_total_more 100\n\
             late_bucket{le=\"1\"} 3\nlate_bucket{le=\"10\"} 4\nlate_count 5\n";
        let readings = Readings { text: text.to_owned() };
        assert!((readings.failures() - 2.0).abs() < f64::EPSILON);
        assert!((readings.sum("late_bucket", "le=\"1\"") - 3.0).abs() < f64::EPSILON);
        assert!((readings.sum("late_count", "") - 5.0).abs() < f64::EPSILON);
        assert!(readings.expect("late").is_err());
    }
}
