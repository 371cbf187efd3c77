//! What the health endpoint of a service answers, in the words of its framework.

mod check;
mod words;
mod writing;

use std::time::Duration;

use self::check::checks;
use crate::company::{Service, Wire};
use crate::world::{Manner, World};

/// How long an endpoint itself takes on a good day, beside its checks.
const OWN_MS: f64 = 2.0;

/// What an endpoint does when it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It answers.
    Given {
        /// The status code.
        code: u16,
        /// The body, which is JSON.
        body: String,
        /// How long it takes.
        after: Duration,
    },
    /// It takes the connection and never answers.
    Never,
}

/// What the endpoint of this service answers in this world.
#[must_use]
pub fn answer(service: &Service, world: &World) -> Answer {
    match world.manner(service.slug) {
        Manner::Hangs => Answer::Never,
        Manner::Refuses => {
            let body = r#"{"status":503,"error":"Service Unavailable"}"#.to_owned();
            Answer::Given { code: 503, body, after: millis(OWN_MS) }
        }
        Manner::Answers => given(service, world),
    }
}

fn given(service: &Service, world: &World) -> Answer {
    let checks = checks(service, world);
    // The checks run side by side.
    let slowest = checks.iter().map(|one| one.latency_ms).fold(0.0, f64::max);
    let own = OWN_MS * world.stretch(service.slug, "itself");
    let body = match service.wire {
        Wire::Proactive => writing::proactive(&checks),
        Wire::Spring => writing::spring(&checks),
        Wire::AspNet => writing::asp_net(&checks),
        Wire::Status => serde_json::json!({ "status": "ok" }),
    };
    let after = millis(own + slowest);
    Answer::Given { code: 200, body: body.to_string(), after }
}

fn millis(count: f64) -> Duration {
    Duration::from_secs_f64(count.max(0.0) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::company::SERVICES;
    use crate::story::Story;
    use serde_json::Value;

    const STORY: Story = Story { seed: 7 };

    fn body(slug: &str, seconds: i64) -> Value {
        let world = World::at(STORY, seconds * 1_000);
        match answer(Service::find(slug).unwrap(), &world) {
            Answer::Given { code: 200, body, .. } => serde_json::from_str(&body).unwrap(),
            other => panic!("{slug} at {seconds}: {other:?}"),
        }
    }

    #[test]
    fn on_a_calm_day_everything_is_fine_and_quick() {
        let world = World::at(STORY, 0);
        for service in SERVICES {
            let Answer::Given { code, body, after } = answer(service, &world) else {
                panic!("{} does not answer", service.slug)
            };
            assert_eq!(code, 200);
            assert!(after < Duration::from_millis(900), "{}: {after:?}", service.slug);
            for word in ["false", "DOWN", "Unhealthy", "Degraded", "errorMessage", "exception"] {
                assert!(!body.contains(word), "{}: {body}", service.slug);
            }
        }
    }

    #[test]
    fn who_waits_for_a_slow_database_answers_later_before_it_fails_and_until_it_is_well() {
        let took = |slug: &str, seconds: i64| {
            let world = World::at(STORY, seconds * 1_000);
            match answer(Service::find(slug).unwrap(), &world) {
                Answer::Given { after, .. } => after.as_millis(),
                Answer::Never => u128::MAX,
            }
        };
        // Those that lean on it, however far: calm, slow, without connections, slow again, calm. Who leans
        // on a service notices later, and is answered at once by one that gave up.
        for (slug, [slow, failing, back]) in [
            ("ledger", [100, 700, 50]),
            ("catalog", [100, 700, 50]),
            ("payments", [100, 700, 50]),
            ("gateway", [80, 20, 0]),
        ] {
            for second in [5, 10, 96, 100] {
                assert!(took(slug, second) < 400, "{slug} at {second} s");
            }
            let most =
                |seconds: std::ops::Range<i64>| seconds.map(|at| took(slug, at)).max().unwrap();
            let usual = most(0..15);
            assert!(most(19..33) > usual.min(slow), "{slug} while it is slow");
            assert!(most(36..66) > failing, "{slug} while it fails");
            assert!(most(76..88) > back, "{slug} while it comes back");
            assert!((0..95).all(|at| took(slug, at) < 1_000), "{slug} within the time of a poll");
        }
        let direct = ["ledger", "catalog", "payments", "accounts", "stock", "orders"];
        assert!(direct.iter().all(|slug| (20..33).all(|at| took(slug, at) > 100)));
    }

    #[test]
    fn what_is_reported_of_a_thing_takes_no_longer_than_the_answer() {
        let told = &body("ledger", 50)[0]["health"]["latency"];
        assert!(told.as_f64().is_some_and(|ms| (700.0..=850.0).contains(&ms)), "{told}");
    }

    #[test]
    fn a_failing_database_is_told_by_each_in_its_own_words() {
        let ledger = body("ledger", 50);
        let told = &ledger[0];
        assert_eq!((&told["name"], &told["healthy"]), (&"postgres-main".into(), &false.into()));
        assert_eq!(told["health"]["state"], 2);
        assert!(told["errorMessage"].as_str().unwrap().contains("connection"), "{told}");
        assert!(told["impact"].as_str().is_some() && told["contact"]["team"].as_str().is_some());

        let catalog = &body("catalog", 50)["components"]["db"];
        assert_eq!(catalog["status"], "DOWN");
        assert!(catalog["details"]["error"].as_str().unwrap().contains("Hikari"), "{catalog}");

        let payments = &body("payments", 50)["entries"]["PaymentsDb"];
        assert_eq!(payments["status"], "Unhealthy");
        assert!(payments["exception"].as_str().unwrap().contains("Npgsql"), "{payments}");
        assert!(payments["duration"].as_str().unwrap().starts_with("00:00:0"), "{payments}");
    }

    #[test]
    fn what_is_slow_is_told_as_degraded_in_every_format() {
        assert_eq!(body("ledger", 20)[0]["health"]["state"], 1);
        assert_eq!(body("catalog", 20)["components"]["db"]["status"], "DEGRADED");
        assert_eq!(body("payments", 20)["entries"]["PaymentsDb"]["status"], "Degraded");
    }

    #[test]
    fn who_leans_on_a_service_that_does_not_answer_says_how_it_was() {
        let world = World::at(STORY, 230_000);
        assert_eq!(answer(Service::find("search").unwrap(), &world), Answer::Never);
        let catalog = body("catalog", 240);
        let said = catalog["components"]["search"]["details"]["error"].as_str().unwrap();
        assert!(said.contains("did not answer"), "{said}");
        let refused = answer(Service::find("orders").unwrap(), &World::at(STORY, 50_000));
        assert!(matches!(refused, Answer::Given { code: 503, .. }), "{refused:?}");
    }

    #[test]
    fn the_same_seed_and_moment_give_the_same_answer() {
        for seconds in (-86_000..2_000).step_by(97) {
            let world = World::at(STORY, seconds * 1_000);
            for service in SERVICES {
                assert_eq!(answer(service, &world), answer(service, &world));
            }
        }
    }
}
