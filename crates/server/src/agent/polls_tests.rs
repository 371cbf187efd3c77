//! What the engine is told of the services of nets that come and go.

use std::sync::Mutex as Slot;

use mainstay_base::{Id, SystemClock};
use mainstay_fleet::agent::{Agent, BadNet, Checker, Checks, Identity, Running};
use serde_json::{Value, json};

use super::*;
use crate::net::NetPlan;

/// Gives its reporter away.
#[derive(Clone, Default)]
struct Lending(Arc<Slot<Option<Reporter>>>);

impl Checker for Lending {
    fn checks(&self, _: &Value) -> Result<Box<dyn Checks>, BadNet> {
        Ok(Box::new(self.clone()))
    }
}

impl Checks for Lending {
    fn count(&self) -> usize {
        1
    }

    fn start(self: Box<Self>, reporter: Reporter) -> Running {
        *self.0.lock().unwrap() = Some(reporter);
        Box::new(())
    }
}

fn reporter() -> Reporter {
    let id: Id = "01a1e102-8087-7707-8707-000000000001".parse().unwrap();
    let lending = Lending::default();
    let identity = Identity { worker: id, generation: 1, boot_id: id, policy: None };
    let agent = Agent::new(identity, Arc::new(lending.clone()), Arc::new(SystemClock::new()));
    agent.load(id, 1, &json!({})).unwrap();
    lending.0.lock().unwrap().clone().unwrap()
}

fn services(names: &[&str]) -> Vec<Definition> {
    let one = |name: &&str| json!({ "name": name, "url": format!("https://{name}.example") });
    let services: Vec<Value> = names.iter().map(one).collect();
    NetPlan::read(&json!({ "services": services })).unwrap().services
}

async fn told(book: &Book, after: i64) -> (i64, Vec<i64>, Vec<i64>) {
    let changes = book.changes(after).await.unwrap();
    let watched = changes.watched.iter().map(|(watch, _)| watch.number.0).collect();
    (changes.latest, watched, changes.gone.iter().map(|number| number.0).collect())
}

#[tokio::test]
async fn each_change_is_told_until_it_is_read() {
    let (book, reporter) = (Book::default(), reporter());
    assert_eq!(told(&book, 0).await, (0, vec![], vec![]));
    let first = book.add(&services(&["a", "b"]), &reporter);
    assert_eq!(told(&book, 0).await, (1, vec![1, 2], vec![]));
    assert_eq!(told(&book, 1).await, (1, vec![], vec![]));
    book.add(&services(&["a"]), &reporter);
    book.remove(&first);
    assert_eq!(told(&book, 1).await, (3, vec![3], vec![1, 2]), "no number is given twice");
    assert_eq!(told(&book, 3).await, (3, vec![], vec![]));
    assert!(book.pages().gone.is_empty(), "what was read is forgotten");
}
