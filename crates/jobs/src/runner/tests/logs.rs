use std::io;
use std::sync::Mutex;

use mainstay_store::Sql;
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use super::super::ending::Ending;
use super::*;

/// Keeps every line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn listen(&self) -> tracing::subscriber::DefaultGuard {
        let builder = tracing_subscriber::fmt().json().with_max_level(tracing::Level::DEBUG);
        tracing::subscriber::set_default(builder.with_writer(self.clone()).finish())
    }

    /// The span around the line that says so.
    fn span(&self, said: &str) -> Option<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.find(|line| line["fields"]["message"] == said).map(|line| line["span"].clone())
    }

    /// The level of the line that begins so, if it names the job and everything around it.
    fn level(&self, begins: &str, id: mainstay_base::Id) -> Option<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let line = lines.find(|line| {
            let fields = &line["fields"];
            fields["message"].as_str().is_some_and(|text| text.starts_with(begins))
                && fields["job"] == json!(id.to_string())
                && (&fields["kind"], &fields["runner"]) == (&json!("work"), &json!("r"))
                && fields["attempt"] == json!(1)
        })?;
        line["level"].as_str().map(str::to_owned)
    }
}

#[tokio::test]
async fn what_happens_to_a_job_is_logged_with_its_name() {
    let lines = Lines::default();
    let _listening = lines.listen();
    let handler = doing(|job, _| {
        let fails = job.lease.key;
        async move {
            match fails {
                1 => Err(JobError::retriable("later", "not now")),
                2 => Err(JobError::fatal("never", "not ever")),
                _ => std::future::pending().await,
            }
        }
        .boxed()
    });
    let mut bench = Bench::new(handler).await;
    let made = bench.enqueue(3).await;
    let spoil = Sql::same("test.spoil", "UPDATE jobs SET payload = '{' WHERE key = 3");
    let db = bench.events.db().clone();
    db.write(async |tx| tx.execute(&spoil, &[]).await).await.unwrap();
    bench.turn_until(|engine| engine.held.len() == 3).await;
    bench.turn_until(|engine| engine.held.len() == 1).await;
    let lease = bench.leases()[0];
    bench.engine.lose(lease);
    for (begins, number, level) in [
        ("the payload of a job is no JSON", 2, "ERROR"),
        ("a job is begun", 0, "DEBUG"),
        ("a job failed and is tried again", 0, "INFO"),
        ("a job failed for good", 1, "INFO"),
        ("the lease of a job was lost", 2, "WARN"),
    ] {
        assert_eq!(lines.level(begins, made[number].id).as_deref(), Some(level), "{begins}");
    }
}

#[tokio::test]
async fn what_a_handler_says_stands_in_the_span_of_its_job() {
    let lines = Lines::default();
    let _listening = lines.listen();
    let handler = doing(|_, _| {
        async {
            tracing::info!("working");
            Ok(())
        }
        .boxed()
    });
    let mut bench = Bench::new(handler).await;
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let new = NewJob { traceparent: Some(trace.to_owned()), ..NewJob::new(kind(), json!(null)) };
    let writing = bench.events.write(async |tx, _| bench.jobs.enqueue(tx, new).await);
    let made = writing.await.unwrap();
    bench.turn_until(|_| lines.span("working").is_some()).await;
    let expected = json!({
        "name": "job", "job": made.id.to_string(), "kind": "work", "attempt": 1, "traceparent": trace,
    });
    assert_eq!(lines.span("working"), Some(expected));
}

#[tokio::test]
async fn an_ending_that_is_not_written_is_logged_with_its_job() {
    let lines = Lines::default();
    let _listening = lines.listen();
    let mut bench = Bench::new(hanging()).await;
    let made = bench.enqueue(1).await;
    bench.turn_until(|engine| engine.running == 1).await;
    let lease = bench.leases()[0];
    let away = Sql::same("test.away", "ALTER TABLE jobs RENAME TO jobs_away");
    let db = bench.events.db().clone();
    db.write(async |tx| tx.execute(&away, &[]).await).await.unwrap();
    bench.engine.begin_ending(lease, Ending::Succeeded);
    // It is not tried for long.
    bench.engine.lose(lease);
    bench.settle().await;
    let level = lines.level("the ending of a job was not written", made[0].id);
    assert_eq!(level.as_deref(), Some("WARN"));
}
