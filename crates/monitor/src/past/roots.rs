//! What the root causes were at the moments of a span that matter.

use std::time::Duration;

use mainstay_base::Timestamp;
use mainstay_graph::causes;

use super::handle::{Past, PastError};
use super::moments::{Chosen, Moments};
use super::state::PastMoment;
use super::telling::Told;
use crate::aside::aside;
use crate::graph::then;

/// Moments at which root causes are looked for, beside the beginning: each is a whole state.
const MOST_MOMENTS: usize = 40;
/// Root causes that are named at one moment.
const MOST_ROOTS: usize = 5;

impl Past {
    /// The root causes at the moments that matter, told where they differ from those before or something fell
    /// anew.
    pub(super) async fn roots(
        &self,
        moments: Moments,
        missing_for: Duration,
    ) -> Result<Vec<Told>, PastError> {
        let Chosen { looks, cut } = moments.chosen(MOST_MOMENTS);
        let mut told = Vec::from_iter(cut.map(|cut| not_all(looks.len(), cut)));
        let mut before = Vec::new();
        for (at, is_anew) in looks {
            let moment = self.at(at).await?;
            let roots = aside(move || named(&moment, missing_for)).await?;
            if (is_anew || roots != before) && !roots.is_empty() {
                let word = if roots.len() == 1 { "root cause" } else { "root causes" };
                let what = format!("{word} then: {}", roots.join(", "));
                told.push(Told { at, what, matters: true });
            }
            before = roots;
        }
        Ok(told)
    }
}

/// Whoever reads it must not take what is not told for what did not happen.
fn not_all(looked: usize, (whole, at): (usize, Timestamp)) -> Told {
    let what = format!(
        "root causes were looked for at {looked} of {whole} moments at which something went bad; this is the first of the others"
    );
    Told { at, what, matters: true }
}

fn named(moment: &PastMoment, missing_for: Duration) -> Vec<String> {
    let snapshot = then::graph(moment, missing_for).snapshot();
    let name = |place: usize| snapshot.node(place).map(|node| node.name.to_string());
    let roots = causes::find(&snapshot).roots;
    let named = roots.iter().take(MOST_ROOTS).map(|root| {
        let members: Vec<String> = root.members.iter().filter_map(|&place| name(place)).collect();
        let services = if root.hurts == 1 { "service" } else { "services" };
        format!("{} (hurts {} {services})", members.join(" and "), root.hurts)
    });
    named.collect()
}
