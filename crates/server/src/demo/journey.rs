//! The journey of the demo: from the shop window to a payment that is reviewed, approved and charged. It stops
//! working while the shared database is slow, and works again after it.

use mainstay_journeys::ReadSource;
use mainstay_standins::{Company, Endpoint};

use crate::rooms::Rooms;

/// What a customer crosses, with what each answers on a good day.
const WAY: [(&str, &str, &str); 3] =
    [("browse", "catalog", "UP"), ("order", "orders", "UP"), ("pay", "payments", "Healthy")];

/// A payment settles later: the journey watches it, and charges what was approved.
const PAYING: &str = r#"  - id: authorise
    post: "{{ till }}/authorizations"
    json: { user_id: u-1, amount: "{{ amount }}" }
    timeout: 2s
    expect: { status: 201, json: { status: processing } }
    capture: { payment: "$.id" }
    emit: AuthorizationCreated
    poll:
      get: "{{ till }}/authorizations/{{ payment }}"
      every: 300ms
      within: 5s
      when:
        - { if: { "$.status": processing }, do: continue }
        - { if: { "$.status": pending_review }, do: inject, emit: PendingReview, once: true }
        - { if: { "$.status": approved }, do: done, emit: Approved }
        - { if: { "$.status": declined }, do: error, reason: "{{ $.decline_reason }}" }
  - id: charge
    needs: [authorise.Approved]
    post: "{{ till }}/charges"
    json: { authorization: "{{ payment }}" }
    timeout: 2s
    expect: { status: 201 }
    capture: { charge: "$.id" }
    emit: Charged
"#;

/// Keeps the journey; its first run is due at once.
pub(super) async fn keep(rooms: &Rooms, source: &str) -> anyhow::Result<()> {
    let (journeys, source) = (&rooms.journeys, ReadSource::read(source)?);
    rooms.events.write(async |tx, out| journeys.create(tx, out, &source, true).await).await?;
    Ok(())
}

/// Its file, with the addresses of this company and of its till.
pub(super) fn source(company: &Company, till: &str) -> String {
    let found = |slug: &str| company.endpoints().find(|one| one.service.slug == slug);
    let names = WAY.iter().filter_map(|(_, slug, _)| Some(found(slug)?.service.name));
    let names: Vec<&str> = names.collect();
    let steps = WAY.iter().filter_map(|(id, slug, word)| Some(step(id, found(slug)?, word)));
    format!(
        "journey: buy something\nevery: 10s\nmode: record\ntouches: [{}]\nvars: {{ till: \"{till}\", amount: 1200 }}\nsteps:\n{}{PAYING}",
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
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use mainstay_base::{Clock, SystemClock};
    use mainstay_journeys::report::StepState;
    use mainstay_journeys::{Courier, Journey, Options, RunRecord, Secrets, run};
    use mainstay_outbound::{Policy, Web, WebOptions};
    use mainstay_standins::Grade;
    use mainstay_standins::payments::PaymentServer;

    use super::super::till;

    #[tokio::test]
    async fn the_journey_is_one_and_crosses_three_services() {
        let company = Company::bind().await.unwrap();
        let journey = Journey::parse(&source(&company, "http://127.0.0.1:1")).unwrap();
        assert_eq!(journey.touches, ["Catalog", "Orders", "Payments"]);
        let steps: Vec<_> = journey.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(steps, ["browse", "order", "pay", "authorise", "charge"]);
    }

    #[tokio::test]
    async fn a_payment_is_reviewed_approved_and_charged_and_refused_while_the_till_is_closed() {
        let server = PaymentServer::start(till::settling(Grade::Fine)).await.unwrap();
        let vars = format!("vars: {{ till: \"{}\", amount: 1200 }}", server.base_url());
        let journey = Journey::parse(&format!("journey: pay\n{vars}\nsteps:\n{PAYING}")).unwrap();
        let paid = travel(&journey).await;
        let told: Vec<_> = paid.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(told, ["AuthorizationCreated", "PendingReview", "Approved", "Charged"]);
        assert!(paid.is_passed() && paid.pollers[0].poll_count == 4, "{paid:?}");
        server.settle(till::settling(Grade::Failing));
        let closed = travel(&journey).await;
        assert!(!closed.is_passed(), "{closed:?}");
        let charged = closed.steps.last().unwrap().state;
        assert_eq!((charged, closed.pollers.len()), (StepState::Skipped, 0), "{closed:?}");
    }

    async fn travel(journey: &Journey) -> RunRecord {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let policy = Policy { private: true, ..Policy::default() };
        let web = Web::new(&WebOptions::new(policy, Arc::clone(&clock)).unwrap()).unwrap();
        let courier = Courier::new(web, Arc::clone(&clock)).unwrap();
        let (vars, secrets) = (BTreeMap::new(), Secrets::default());
        let options = Options { mode: None, vars, secrets, courier, clock };
        run(journey, options, Arc::new(())).await.unwrap()
    }
}
