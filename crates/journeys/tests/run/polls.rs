//! How pollers ask.

use std::net::SocketAddr;
use std::sync::Arc;

use mainstay_journeys::report::{FailureKind, PollerState};
use mainstay_journeys::{Courier, Journey, RunOutcome, run};
use mainstay_outbound::{Policy, Web, WebOptions};
use mainstay_standins::payments::{PaymentServer, Settling};

use crate::travel::{Closed, answering, events, options, travel_by};

#[tokio::test]
async fn a_poll_may_pass_over_errors_or_speak_of_them() {
    let server = PaymentServer::start(Settling::Hangs).await.unwrap();
    let text = "journey: x\nvars: {base: null}\nsteps:\n- id: a\n  post: '{{ base }}/authorizations'\n  \
        capture: {id: $.id}\n  poll:\n    get: '{{ base }}/authorizations/{{ id }}'\n    \
        every: 50ms\n    within: 20s\n    timeout: 100ms\n    max_polls: 3\n    \
        when: [{if: {error: timeout}, do: done, emit: Hung}, {if: {status: [404, 5xx]}, do: error}]\n";
    let run = travel_by(text, &server, &[]).await;
    assert_eq!(run.outcome, RunOutcome::Passed, "{run:#?}");
    assert_eq!(events(&run), ["Hung"]);
}

/// A journey that asks the service once, and watches another one then.
fn watching(address: SocketAddr, poll: &str) -> String {
    format!(
        "journey: x\nmode: record\nvars: {{base: null}}\nsteps:\n- id: a\n  get: '{{{{ base }}}}/echo'\n  \
         poll:\n    get: 'http://{address}/'\n    every: 50ms\n    {poll}\n    when: [{{if: {{$.status: done}}, do: done}}, {{if: {{status: 200}}, do: continue}}]\n"
    )
}

#[tokio::test]
async fn errors_in_a_row_are_tolerated_as_often_as_is_said() {
    let (server, down) = (PaymentServer::start(Settling::Declines).await.unwrap(), Closed::new());
    for (tolerate, polls) in [("", 1), ("\n    tolerate: 3", 4)] {
        let text = watching(down.address(), &format!("within: 20s{tolerate}"));
        let run = travel_by(&text, &server, &[]).await;
        assert_eq!(run.pollers[0].poll_count, polls, "{run:#?}");
        assert!(run.failures[0].message.contains("(connect_refused)"), "{run:#?}");
    }
}

#[tokio::test]
async fn whoever_asks_to_be_left_alone_is_not_asked_again_before() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let answer =
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nretry-after: 3600\r\nconnection: close\r\n\r\n{}";
    let text = watching(answering(answer).await, "within: 5s\n    on_timeout: ignore");
    let run = travel_by(&text, &server, &[]).await;
    let poller = &run.pollers[0];
    assert_eq!((poller.state, poller.poll_count), (PollerState::TimedOut, 1), "{run:#?}");
}

#[tokio::test]
async fn a_poll_that_the_breaker_leaves_out_is_counted_and_no_failure() {
    let (server, down) = (PaymentServer::start(Settling::Declines).await.unwrap(), Closed::new());
    let down = down.address();
    let mut options = options(None, Some(&server.base_url()), true);
    // Its breakers do not see any time go by: what is open stays so.
    let policy = Policy { private: true, ..Policy::default() };
    let web = Web::new(&WebOptions::new(policy, options.clock.clone()).unwrap()).unwrap();
    options.courier = Courier::new(web, Arc::new(mainstay_testkit::FakeClock::new())).unwrap();
    let failing: String =
        (0..5).map(|n| format!("- {{id: s{n}, get: 'http://{down}/'}}\n")).collect();
    let text = watching(down, "within: 4s\n    on_timeout: ignore");
    let text = text.replace("steps:\n", &format!("steps:\n{failing}"));
    let run = run(&Journey::parse(&text).unwrap(), options, Arc::new(())).await.unwrap();
    assert_eq!(run.failures.len(), 5, "{run:#?}");
    let poller = &run.pollers[0];
    assert_eq!((poller.state, poller.poll_count), (PollerState::TimedOut, 0), "{run:#?}");
    assert!(poller.skipped_count > 0, "{run:#?}");
}

/// A service that is not there yet is just what a poll waits for.
#[tokio::test]
async fn failures_that_the_journey_expects_do_not_keep_a_poll_from_its_host() {
    let (server, down) = (PaymentServer::start(Settling::Declines).await.unwrap(), Closed::new());
    for (tolerate, rule) in
        [("\n    tolerate: 1000", ""), ("", "{if: {error: true}, do: continue}, ")]
    {
        let text = watching(down.address(), &format!("within: 20s\n    max_polls: 12{tolerate}"));
        let text = text.replace("when: [", &format!("when: [{rule}"));
        let run = travel_by(&text, &server, &[]).await;
        let poller = &run.pollers[0];
        assert_eq!((poller.poll_count, poller.skipped_count), (12, 0), "{run:#?}");
    }
}

/// Who reads that nothing settled must not think that somebody looked.
#[tokio::test]
async fn polls_that_were_left_out_are_told_where_a_resource_did_not_settle() {
    let (server, down) = (PaymentServer::start(Settling::Declines).await.unwrap(), Closed::new());
    let down = down.address();
    let mut options = options(None, Some(&server.base_url()), true);
    let policy = Policy { private: true, ..Policy::default() };
    let web = Web::new(&WebOptions::new(policy, options.clock.clone()).unwrap()).unwrap();
    options.courier = Courier::new(web, Arc::new(mainstay_testkit::FakeClock::new())).unwrap();
    let failing: String =
        (0..5).map(|n| format!("- {{id: s{n}, get: 'http://{down}/'}}\n")).collect();
    let text = watching(down, "within: 4s");
    let text = text.replace("steps:\n", &format!("steps:\n{failing}"));
    let run = run(&Journey::parse(&text).unwrap(), options, Arc::new(())).await.unwrap();
    let (failure, poller) = (run.failures.last().unwrap(), &run.pollers[0]);
    assert_eq!(failure.kind, FailureKind::Timeout, "{run:#?}");
    let told =
        format!("(0 polls, {} skipped): its host had failed too often", poller.skipped_count);
    assert!(failure.message.contains(&told), "{failure:?}");
    assert_eq!(poller.error.as_deref(), Some(failure.message.as_str()));
    let xml = mainstay_journeys::junit::junit(&run);
    assert!(xml.contains("skipped while the host was left alone"), "{xml}");
}

/// Who gives a host no time says nothing about the host.
#[tokio::test]
async fn a_hasty_journey_does_not_keep_others_from_its_host() {
    let server = PaymentServer::start(Settling::Hangs).await.unwrap();
    let healthy =
        "journey: y\nvars: {base: null}\nsteps:\n- {id: a, post: '{{ base }}/authorizations'}\n";
    assert!(travel_by(healthy, &server, &[]).await.is_passed());
    let steps: String = (0..6)
        .map(|n| {
            format!("- {{id: s{n}, get: '{{{{ base }}}}/authorizations/a-1', timeout: 1ms}}\n")
        })
        .collect();
    let hasty = format!("journey: x\nvars: {{base: null}}\nmode: record\nsteps:\n{steps}");
    let first = options(None, Some(&server.base_url()), true);
    let mut second = options(None, Some(&server.base_url()), true);
    second.courier = first.courier.clone();
    let run_of = async |text: &str, options| {
        run(&Journey::parse(text).unwrap(), options, Arc::new(())).await.unwrap()
    };
    let run = run_of(&hasty, first).await;
    let kinds: Vec<_> = run.failures.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [FailureKind::Request; 6], "{run:#?}");
    let run = run_of(healthy, second).await;
    assert!(run.is_passed(), "{run:#?}");
}

/// A journey with one step and a poll of this path.
fn polling(path: &str, rules: &str) -> String {
    format!(
        "journey: x\nvars: {{base: null}}\nsteps:\n- id: a\n  get: '{{{{ base }}}}/echo'\n  poll:\n    \
         get: '{{{{ base }}}}{path}'\n    every: 50ms\n    within: 20s\n    when: {rules}\n"
    )
}

#[tokio::test]
async fn a_poll_is_bounded_and_guarded_as_a_step_is() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    for (path, kind) in [("/huge", "too_large"), ("/moved", "redirect_blocked")] {
        let unsaid = polling(path, "[{if: {status: 2xx}, do: done}]");
        let run = travel_by(&unsaid, &server, &[]).await;
        assert_eq!((run.outcome, run.pollers[0].poll_count), (RunOutcome::Failed, 1));
        let told = format!("no rule fits this failure ({kind})");
        assert!(run.failures[0].message.contains(&told), "{run:#?}");
        let said =
            polling(path, &format!("[{{if: {{error: {kind}}}, do: done, emit: [Seen, Left]}}]"));
        let run = travel_by(&said, &server, &[]).await;
        assert_eq!((run.outcome, events(&run)), (RunOutcome::Passed, vec!["Seen", "Left"]));
    }
}

#[tokio::test]
async fn a_rule_whose_path_matches_nothing_does_not_fit_and_a_reason_that_fails_is_told() {
    let server = PaymentServer::start(Settling::Declines).await.unwrap();
    let rules = "[{if: {$.none: 1}, do: done}, {do: error, reason: 'because {{ $.why }}'}]";
    let run = travel_by(&polling("/echo", rules), &server, &[]).await;
    let failure = &run.failures[0];
    assert_eq!(failure.kind, FailureKind::Poller);
    assert!(failure.message.contains("$.why matches nothing in the answer"), "{failure:?}");
}

#[tokio::test]
async fn a_poll_that_hangs_is_asked_again_as_often_as_it_may_be() {
    let server = PaymentServer::start(Settling::Hangs).await.unwrap();
    for (on_timeout, outcome) in [("fail", RunOutcome::Failed), ("ignore", RunOutcome::Passed)] {
        let text = format!(
            "journey: x\nvars: {{base: null}}\nsteps:\n- id: a\n  post: '{{{{ base }}}}/authorizations'\n  \
             capture: {{id: $.id}}\n  poll:\n    get: '{{{{ base }}}}/authorizations/{{{{ id }}}}'\n    \
             every: 50ms\n    timeout: 100ms\n    within: 20s\n    max_polls: 2\n    on_timeout: {on_timeout}\n    \
             when: [{{if: {{$.status: approved}}, do: done}}]\n"
        );
        let run = travel_by(&text, &server, &[]).await;
        assert_eq!(run.outcome, outcome, "{on_timeout}: {run:#?}");
        assert_eq!(run.pollers[0].poll_count, 2, "{run:#?}");
        let kinds: Vec<_> = run.failures.iter().map(|one| one.kind).collect();
        let expected: &[_] =
            if outcome == RunOutcome::Failed { &[FailureKind::Timeout] } else { &[] };
        assert_eq!(kinds, expected, "{run:#?}");
    }
}
