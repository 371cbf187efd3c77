//! A plan for a person.

use mainstay_monitor::desired::{Action, Applied, FieldChange, PlanView, PlannedChange};
use serde_json::Value;

/// The most characters of a value that are shown.
const MAX_SHOWN: usize = 80;

/// The changes, one in a line, and how many there are.
pub(super) fn of(applied: &Applied, dry_run: bool) -> String {
    let plan = &applied.plan;
    let mut lines: Vec<String> = plan.changes.iter().map(change).collect();
    lines.extend(plan.waiting.iter().map(|link| {
        format!(
            "… link {} / {} → {}: waits for its first report; apply again then",
            printable(&link.service),
            printable(&link.dependency),
            printable(&link.links_to)
        )
    }));
    lines.push(summary(plan, dry_run));
    lines.join("\n") + "\n"
}

fn summary(plan: &PlanView, dry_run: bool) -> String {
    let unchanged = plan.unchanged;
    let same = format!(
        "unchanged: {}, {}, {}",
        counted(unchanged.services, "service", "services"),
        counted(unchanged.aliases, "alias", "aliases"),
        counted(unchanged.links, "link", "links"),
    );
    if plan.changes.is_empty() {
        return format!("Nothing to do; {same}.");
    }
    let [added, changed, removed] =
        [Action::Add, Action::Change, Action::Remove].map(|action| plan.count(action));
    if dry_run {
        format!("Would add {added}, change {changed} and remove {removed}; {same}.")
    } else {
        format!("Added {added}, changed {changed} and removed {removed}; {same}.")
    }
}

fn change(change: &PlannedChange) -> String {
    let sign = match change.action {
        Action::Add => '+',
        Action::Change => '~',
        Action::Remove => '-',
    };
    let line = format!("{sign} {} {}", change.kind, printable(&change.name));
    if let (Action::Remove, "service", [links]) = (change.action, &*change.kind, &*change.fields) {
        let count = links.before.as_u64().and_then(|count| usize::try_from(count).ok());
        return format!("{line} and {}", counted(count.unwrap_or_default(), "link", "links"));
    }
    let fields: Vec<_> = change.fields.iter().map(|field| shown(change.action, field)).collect();
    if fields.is_empty() { line } else { format!("{line}: {}", fields.join(", ")) }
}

fn shown(action: Action, field: &FieldChange) -> String {
    let name = printable(&field.field);
    match action {
        Action::Add => format!("{name} {}", value(&field.after)),
        Action::Remove => format!("{name} {}", value(&field.before)),
        Action::Change => format!("{name} {} → {}", value(&field.before), value(&field.after)),
    }
}

fn value(value: &Value) -> String {
    let text = printable(&value.to_string());
    if text.chars().nth(MAX_SHOWN).is_none() {
        return text;
    }
    text.chars().take(MAX_SHOWN).chain(['…']).collect()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Names come from services too, and may hold escape codes.
fn printable(text: &str) -> String {
    let replace = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(plan: &Value) -> Applied {
        serde_json::from_value(json!({"applied": false, "plan": plan})).unwrap()
    }

    #[test]
    fn each_change_is_a_line() {
        let plan = json!({
            "changes": [
                {"action": "add", "kind": "service", "name": "Orders", "fields": []},
                {"action": "change", "kind": "service", "name": "Shop", "fields": [
                    {"field": "poll_interval_ms", "before": 30_000, "after": 60_000},
                    {"field": "team", "before": null, "after": "Web"},
                    {"field": "headers.X-Key", "before": "set", "after": "changed"},
                ]},
                {"action": "remove", "kind": "service", "name": "Old", "fields": []},
                {"action": "remove", "kind": "service", "name": "Older", "fields": [
                    {"field": "links", "before": 3, "after": 0},
                ]},
                {"action": "add", "kind": "alias", "name": "db\u{1b}[31m", "fields": [
                    {"field": "canonical_name", "before": null, "after": "Database"},
                ]},
            ],
            "waiting": [{"service": "Shop", "dependency": "cache", "links_to": "Redis"}],
            "unchanged": {"services": 1, "aliases": 2, "links": 0},
        });
        let lines = [
            "+ service Orders",
            "~ service Shop: poll_interval_ms 30000 → 60000, team null → \"Web\", headers.X-Key \"set\" → \"changed\"",
            "- service Old",
            "- service Older and 3 links",
            "+ alias db\u{fffd}[31m: canonical_name \"Database\"",
            "… link Shop / cache → Redis: waits for its first report; apply again then",
        ];
        let [planned, done] = [true, false].map(|dry_run| of(&applied(&plan), dry_run));
        let same = "unchanged: 1 service, 2 aliases, 0 links.";
        assert_eq!(
            planned,
            format!("{}\nWould add 2, change 1 and remove 2; {same}\n", lines.join("\n"))
        );
        assert!(done.ends_with(&format!("Added 2, changed 1 and removed 2; {same}\n")), "{done}");
    }

    #[test]
    fn long_values_are_cut_and_nothing_to_do_is_said() {
        let plan = json!({
            "changes": [], "waiting": [], "unchanged": {"services": 3, "aliases": 1, "links": 1},
        });
        assert_eq!(
            of(&applied(&plan), false),
            "Nothing to do; unchanged: 3 services, 1 alias, 1 link.\n"
        );
        assert_eq!(value(&json!("ä".repeat(500))).chars().count(), MAX_SHOWN + 1);
    }
}
