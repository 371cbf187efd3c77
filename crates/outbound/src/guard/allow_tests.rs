use super::*;

fn list(entries: &[&str]) -> AllowList {
    AllowList::parse(entries).unwrap_or_else(|error| panic!("{error}"))
}

fn problem(entry: &str) -> AllowProblem {
    AllowList::parse([entry]).expect_err(entry).problem
}

#[test]
fn a_host_is_let_pass_by_its_name_however_it_is_spelled() {
    let list =
        list(&["DB.Internal.", " *.Svc.Cluster.local ", "bücher.example", "", "under_score"]);
    for host in [
        "db.internal",
        "db.internal.",
        "DB.INTERNAL",
        "a.svc.cluster.local",
        "a.b.svc.cluster.local.",
        "xn--bcher-kva.example",
        "under_score",
    ] {
        assert!(list.names(host), "{host}");
    }
    for host in [
        "internal",
        "xdb.internal",
        "db.internal.example.com",
        "svc.cluster.local",
        "asvc.cluster.local",
        ".svc.cluster.local",
        "",
        ".",
    ] {
        assert!(!list.names(host), "{host}");
    }
}

#[test]
fn an_address_is_let_pass_by_its_network() {
    let list = list(&["10.1.0.0/16", "192.168.7.9", "fd12:3456::/32", "::1"]);
    for address in ["10.1.255.255", "192.168.7.9", "fd12:3456:7::1", "::1"] {
        assert!(list.holds(address.parse().unwrap()), "{address}");
    }
    for address in ["10.2.0.0", "192.168.7.8", "fd12:3457::1", "::2", "127.0.0.1"] {
        assert!(!list.holds(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn an_entry_that_is_wrong_is_told_with_its_cure() {
    for entry in [
        "*",
        "*.",
        "*.*.example",
        "db.*",
        "http://db.internal",
        "db.internal:80",
        "[::1]",
        "db/8",
        "fe80::1%eth0",
        "a b",
        "a..b",
        "user@host",
        "10.0.0.0-10.0.0.9",
        "-\u{0}-",
    ] {
        assert_eq!(problem(entry), AllowProblem::NotAnEntry, "{entry}");
    }
    for entry in
        ["10.0.0.0/8/8", "10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/-1"]
    {
        assert_eq!(problem(entry), AllowProblem::Prefix, "{entry}");
    }
    for entry in ["::ffff:10.0.0.1", "::ffff:10.0.0.0/104"] {
        assert_eq!(problem(entry), AllowProblem::Wrapped, "{entry}");
    }
    for entry in ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"] {
        assert_eq!(problem(entry), AllowProblem::OldSpelling(Ipv4Addr::LOCALHOST), "{entry}");
    }
    let error = AllowList::parse(["db.internal", "10.1.2.3/8"]).unwrap_err();
    let told = "outbound.allow: \"10.1.2.3/8\" has bits beyond its prefix; write 10.0.0.0/8";
    assert_eq!(error.to_string(), told);
}

#[test]
fn a_wrong_entry_is_repeated_only_in_part() {
    let error = AllowList::parse([format!("\n{}/x", "y".repeat(10_000))]).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
}

#[test]
fn the_list_has_an_end() {
    let entries = (0..=MAX_ENTRIES).map(|at| format!("host-{at}"));
    let error = AllowList::parse(entries).unwrap_err();
    assert_eq!((error.entry.as_str(), error.problem), ("host-1000", AllowProblem::TooMany));
}

#[test]
fn a_list_is_shown_as_it_could_be_written() {
    let shown = list(&["*.internal", "DB.example", "10.0.0.0/8"]).to_string();
    assert_eq!(shown, "10.0.0.0/8, db.example, *.internal");
    assert_eq!(list(&shown.split(", ").collect::<Vec<_>>()).to_string(), shown);
}
