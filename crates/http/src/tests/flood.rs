//! One address that asks too often, over real sockets.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use mainstay_base::{Clock, Moment, Timestamp};

use super::house::{House, Plan};
use super::raw::{Answer, get, request};
use crate::{Limits, Site};

/// Always the same moment, so that a slow machine earns nothing back.
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_794_776_400_007)
    }

    fn moment(&self) -> Moment {
        Moment::from_origin(Duration::from_secs(60))
    }
}

fn plan(alone: bool) -> Plan {
    Plan {
        limits: Limits { address_rate: 1, address_burst: 3, ..Limits::default() },
        site: Site { alone, https: false, origin: None, metrics_public: true, ..Site::default() },
        trusts: |address: IpAddr| address.is_loopback(),
        clock: Arc::new(Standing),
        ..Plan::default()
    }
}

async fn ask(house: &House, client: &str, target: &str) -> Answer {
    let headers = format!("X-Forwarded-For: {client}\r\n");
    request(house.address, "GET", target, &headers, "").await
}

#[tokio::test]
async fn an_address_that_floods_is_told_when_to_come_back_and_others_are_served() {
    let house = House::build(plan(false)).await;
    // What is refused or missing counts like everything else.
    for (target, status) in [("/api/openapi.json", 200), ("/api/nothing", 404), ("/%ff", 400)] {
        assert_eq!(ask(&house, "203.0.113.9", target).await.status, status, "{target}");
    }
    for target in ["/api/system", "/", "/api/nothing", "/assets/app-abc.js"] {
        let answer = ask(&house, "203.0.113.9", target).await;
        assert_eq!((answer.status, answer.code().as_str()), (429, "rate_limited"), "{target}");
        assert_eq!(answer.header("retry-after"), Some("1"), "{target}");
    }
    assert_eq!(ask(&house, "203.0.113.10", "/api/openapi.json").await.status, 200);
}

#[tokio::test]
async fn probes_are_answered_however_often_they_ask() {
    let house = House::build(plan(false)).await;
    for _ in 0..5 {
        for target in ["/healthz", "/readyz"] {
            assert_eq!(ask(&house, "203.0.113.9", target).await.status, 200, "{target}");
        }
    }
}

#[tokio::test]
async fn when_alone_nobody_is_counted() {
    let house = House::build(plan(true)).await;
    for _ in 0..10 {
        assert_eq!(get(house.address, "/api/openapi.json").await.status, 200);
    }
}
