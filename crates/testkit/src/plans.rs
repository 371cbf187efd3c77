//! How a database goes about a statement: the lines of its plan.

use mainstay_store::{Db, Dialect, Sql, Value};

/// The most values that a statement is looked at with.
const MOST_VALUES: usize = 20;

/// The plan of a statement with these values.
///
/// # Panics
/// When the database does not take the statement.
pub async fn plan(db: &Db, statement: &Sql, values: &[Value<'_>]) -> Vec<String> {
    let (word, column) = match db.dialect() {
        Dialect::Sqlite => ("EXPLAIN QUERY PLAN", "detail"),
        Dialect::Postgres => ("EXPLAIN", "QUERY PLAN"),
    };
    let text = format!("{word} {}", statement.text(db.dialect()));
    let explain = Sql::same("test.explain", text.leak());
    let rows = db.fetch_all(&explain, values).await.expect("the statement is explained");
    rows.iter().map(|row| row.get(column).expect("a plan has lines")).collect()
}

/// The plan of a statement that takes nothing but numbers, with a one for each.
///
/// # Panics
/// When the database does not take the statement.
pub async fn plan_with_ones(db: &Db, statement: &Sql) -> Vec<String> {
    let text = statement.text(db.dialect());
    let takes = |number: &usize| text.contains(&format!("${number}"));
    let count = (1..=MOST_VALUES).take_while(takes).count();
    plan(db, statement, &vec![Value::from(1_i64); count]).await
}
