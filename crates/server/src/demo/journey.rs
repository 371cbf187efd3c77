//! The journey of the demo: from the shop window to the payment. It stops working while the shared
//! database is slow, and works again after it.

use mainstay_journeys::ReadSource;
use mainstay_standins::{Company, Endpoint};

use crate::rooms::Rooms;

/// What a customer crosses, with what each answers on a good day.
const WAY: [(&str, &str, &str); 3] =
    [("browse", "catalog", "UP"), ("order", "orders", "UP"), ("pay", "payments", "Healthy")];

/// Keeps the journey; its first run is due at once.
pub(super) async fn keep(rooms: &Rooms, source: &str) -> anyhow::Result<()> {
    let (journeys, source) = (&rooms.journeys, ReadSource::read(source)?);
    rooms.events.write(async |tx, out| journeys.create(tx, out, &source, true).await).await?;
    Ok(())
}

/// Its file, with the addresses of this company.
pub(super) fn source(company: &Company) -> String {
    let found = |slug: &str| company.endpoints().find(|one| one.service.slug == slug);
    let names = WAY.iter().filter_map(|(_, slug, _)| Some(found(slug)?.service.name));
    let names: Vec<&str> = names.collect();
    let steps = WAY.iter().filter_map(|(id, slug, word)| Some(step(id, found(slug)?, word)));
    format!(
        "journey: buy something\nevery: 10s\nmode: record\ntouches: [{}]\nsteps:\n{}",
        names.join(", "),
        steps.collect::<String>()
    )
}

fn step(id: &str, endpoint: &Endpoint, word: &str) -> String {
    let url = endpoint.url();
    format!(
        "  - id: {id}\n    get: \"{url}\"\n    timeout: 2s\n    expect: {{ status: 200, json: {{ status: {word} }}, within: 1900ms }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_journey_is_one_and_crosses_three_services() {
        let company = Company::bind().await.unwrap();
        let journey = mainstay_journeys::Journey::parse(&source(&company)).unwrap();
        assert_eq!(journey.touches, ["Catalog", "Orders", "Payments"]);
        assert_eq!(journey.steps.len(), WAY.len());
    }
}
