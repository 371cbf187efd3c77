//! The queue, as admins see it.

use mainstay_jobs::decide::{ClaimPlan, Suspects};
use mainstay_jobs::{Due, Enqueued, Kind, NewJob, Queue, Traceparent};
use serde_json::{Value, json};
use std::time::Duration;

use super::house::House;
use super::raw::request;

impl House {
    async fn enqueue(&self, kind: &str, due: Due) -> Enqueued {
        let new = NewJob::new(Kind::new(kind).unwrap(), json!({"secret": "hunter2"})).due(due);
        let queued = self.events.write(async |tx, _| self.jobs.enqueue(tx, new).await);
        queued.await.unwrap()
    }
}

fn ids(page: &Value) -> Vec<&str> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn jobs_are_listed_by_status_and_kind_newest_first_and_never_with_their_payload() {
    let house = House::open().await;
    let admin = house.admin().await;
    let mut made = Vec::new();
    for kind in ["mail", "report", "mail"] {
        made.push(house.enqueue(kind, Due::Now).await.id.to_string());
    }
    made.sort_by(|one, other| other.cmp(one));
    let all = admin.get("/api/admin/jobs").await;
    assert!(!String::from_utf8_lossy(&all.body).contains("hunter2"));
    assert_eq!(ids(&all.json()), made);
    let mails = admin.get("/api/admin/jobs?kind=mail&status=queued").await.json();
    assert_eq!(mails["items"].as_array().unwrap().len(), 2);
    let first = admin.get("/api/admin/jobs?limit=2").await.json();
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = admin.get(&format!("/api/admin/jobs?limit=2&cursor={cursor}")).await.json();
    assert_eq!([ids(&first), ids(&second)].concat(), made);
    assert_eq!(second["next_cursor"], Value::Null);

    let one = admin.get(&format!("/api/admin/jobs/{}", made[0])).await.json();
    let expected = json!({
        "status": "queued", "attempts": 0, "max_attempts": 4, "crashes": 0, "stuck": false,
        "locked_by": null, "last_error_code": null, "archived": false,
    });
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&one[name], value, "{name}");
    }
    for (target, status, code) in [
        ("/api/admin/jobs?status=lost", 400, "invalid_query"),
        ("/api/admin/jobs?kind=No", 400, "invalid_job_kind"),
        ("/api/admin/jobs?colour=red", 400, "invalid_query"),
        ("/api/admin/jobs/1", 400, "invalid_path"),
        ("/api/admin/jobs/019a8b3c-0000-7000-8000-000000000000", 404, "not_found"),
    ] {
        let answer = admin.get(target).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code), "{target}");
    }
}

#[tokio::test]
async fn what_a_request_enqueues_keeps_the_trace_of_the_request() {
    let house = House::open().await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let queue = Queue::new(house.jobs.clone(), "r".to_owned(), Duration::from_secs(60));
    let kind = Kind::new("asked_for").unwrap();
    let plan = ClaimPlan { kind, priority: 0, limit: 1, suspects: Suspects::Left };
    for (headers, expected) in [
        (format!("traceparent: {trace}\r\n"), Some(trace)),
        ("traceparent: made up\r\n".to_owned(), None),
        (String::new(), None),
    ] {
        let answer = request(house.address, "POST", "/api/test/enqueue", &headers, "").await;
        assert_eq!(answer.status, 200, "{headers}");
        let job = queue.claim(&plan).await.unwrap().jobs.pop().unwrap();
        assert_eq!(job.traceparent.as_ref().map(Traceparent::as_str), expected, "{headers}");
    }
}

#[tokio::test]
async fn a_job_is_cancelled_once_and_tried_again_once() {
    let house = House::open().await;
    let admin = house.admin().await;
    let id = house.enqueue("mail", Due::Now).await.id;
    let act = async |what: &str| {
        let answer = admin.send("POST", &format!("/api/admin/jobs/{id}/{what}"), "").await;
        (answer.status, answer.json())
    };
    let (status, refused) = act("retry").await;
    assert_eq!((status, &refused["code"]), (409, &json!("job_not_failed")));
    let (status, job) = act("cancel").await;
    assert_eq!((status, &job["status"]), (200, &json!("failed")));
    assert_eq!(job["last_error_code"], "cancelled");
    let (status, refused) = act("cancel").await;
    assert_eq!((status, &refused["code"]), (409, &json!("job_finished")));
    let (status, job) = act("retry").await;
    assert_eq!((status, &job["status"], &job["attempts"]), (200, &json!("queued"), &json!(0)));
}

#[tokio::test]
async fn a_kind_is_paused_and_resumed_and_seen_at_a_glance() {
    let house = House::open().await;
    let admin = house.admin().await;
    house.enqueue("mail", Due::Now).await;
    house.enqueue("mail", Due::After(Duration::from_hours(1))).await;
    let act = async |what: &str| {
        let target = format!("/api/admin/jobs/kinds/mail/{what}");
        admin.send("POST", &target, "").await.json()
    };
    let paused = act("pause").await;
    assert_eq!((&paused["paused"], &paused["queued"]), (&json!(true), &json!(2)));
    let summary = admin.get("/api/admin/jobs/summary").await.json();
    let kind = &summary["kinds"][0];
    assert_eq!(
        (&kind["kind"], &kind["due"], &kind["paused"]),
        (&json!("mail"), &json!(1), &json!(true))
    );
    assert_eq!(summary["stuck"], 0);
    assert_eq!(act("resume").await["paused"], false);
    let stuck = admin.get("/api/admin/jobs/stuck").await.json();
    assert_eq!(stuck, json!({"items": [], "next_cursor": null}));
    let answer = admin.send("POST", "/api/admin/jobs/kinds/No/pause", "").await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_job_kind"));
}
