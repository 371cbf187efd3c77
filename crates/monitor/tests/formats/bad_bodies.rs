//! Bodies of which nothing can be made, and bodies that try to harm.

use mainstay_monitor::formats::bounds::MAX_ITEMS;
use mainstay_monitor::{BadBody, Format};

use crate::{NOW, mapped, read, told};

const MAPPING: &str = r#"{"root":"","fields":{"name":"name","healthy":"healthy"}}"#;

/// What both formats say to a body.
fn refused(body: &str) -> [String; 2] {
    [read(body).unwrap_err().to_string(), mapped(MAPPING, body).unwrap_err().to_string()]
}

#[test]
fn a_body_that_is_no_array_fails() {
    for (body, found) in [
        ("{}", "an object"),
        (r#"{"name":"a","healthy":true}"#, "an object"),
        ("null", "null"),
        ("true", "a boolean"),
        ("5", "a number"),
        ("-5", "a number"),
        ("5.5", "a number"),
        (r#""[]""#, "a string"),
    ] {
        assert_eq!(
            read(body).unwrap_err().to_string(),
            format!(
                "expected an array of dependencies, not {found}; for another shape use the format schema"
            ),
            "{body}"
        );
    }
}

#[test]
fn a_body_of_which_every_item_is_bad_fails() {
    let error = read(r#"[{"healthy":true},{"healthy":true},5]"#).unwrap_err();
    let told = r#"none of the 3 items can be read; index 0: "name" is missing (and 1 more)"#;
    assert_eq!(error.to_string(), told);
    let error = mapped(MAPPING, r#"[{"healthy":true},{"healthy":true}]"#).unwrap_err();
    let told =
        r#"none of the 2 items can be read; index 0: "name" is missing at "name" (and 1 more)"#;
    assert_eq!(error.to_string(), told);
}

#[test]
fn what_is_no_json_fails_without_repeating_it() {
    for (body, reason) in [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("<html>secret</html>", "expected value at line 1 column 1"),
        ("[{\"name\":\"secret\",\n\"healthy\":NaN}]", "expected value at line 2 column 11"),
        (r#"[{"name":"secret","healthy":Infinity}]"#, "expected value at line 1 column 29"),
        (r#"[{"name":"secret","healthy":true},]"#, " at line 1 column 35"),
        (r#"[{"name":"secret","healthy":true}"#, "EOF while parsing a list at line 1 column 33"),
        (r#"[] secret"#, "trailing characters at line 1 column 4"),
        (r#"[{'name':'secret'}]"#, "key must be a string at line 1 column 3"),
        ("[\"secret\u{1}\"]", "control character"),
    ] {
        for told in refused(body) {
            assert!(told.starts_with("the body is not JSON: "), "{body}: {told}");
            assert!(told.contains(reason), "{body}: {told}");
            assert!(!told.contains("secret"), "{told}");
        }
    }
}

#[test]
fn bytes_that_are_no_utf8_fail() {
    let body = b"[{\"name\":\"a\xFF\",\"healthy\":true}]";
    for format in [Format::ProactiveDeps, Format::parse("schema", Some(MAPPING)).unwrap()] {
        let error = format.read(body, NOW).unwrap_err();
        assert_eq!(error, BadBody::NotUtf8 { offset: 11 });
        assert_eq!(error.to_string(), "the body is not UTF-8: byte 11 is wrong");
    }
}

#[test]
fn more_items_than_are_read_fail() {
    let item = |at: usize| format!(r#"{{"name":"{at}","healthy":true}}"#);
    let body = |items: usize| format!("[{}]", (0..items).map(item).collect::<Vec<_>>().join(","));
    assert_eq!(read(&body(MAX_ITEMS)).unwrap().dependencies.len(), MAX_ITEMS);
    for items in [MAX_ITEMS + 1, 100_000] {
        for told in refused(&body(items)) {
            assert_eq!(told, "the body has more than 2000 items, the most that are read");
        }
    }
    let member = |at: usize| format!(r#""{at}":{{"healthy":true}}"#);
    let object = format!("{{{}}}", (0..=MAX_ITEMS).map(member).collect::<Vec<_>>().join(","));
    assert_eq!(mapped(MAPPING, &object), Err(BadBody::TooManyItems));
}

#[test]
fn what_is_broken_after_the_last_item_that_is_read_is_still_told() {
    let body = format!("[{}7,x]", "7,".repeat(MAX_ITEMS));
    assert!(matches!(read(&body), Err(BadBody::NotJson { .. })));
}

#[test]
fn depth_costs_no_stack() {
    for depth in [127, 128, 500_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let body = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            for told in refused(&body) {
                let known =
                    ["none of the 1 items can be read", "expected an array", "the body is not"];
                assert!(known.iter().any(|start| told.starts_with(start)), "{told}");
            }
        }
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let unknown = format!(r#"[{{"name":"a","healthy":true,"unknown":{deep}}}]"#);
        assert_eq!(told(read(&unknown)), (vec!["a".to_owned()], vec![]), "it is passed over");
    }
}

#[test]
fn an_item_that_is_too_deep_or_too_large_for_a_mapping_is_left_out() {
    let deep = format!("{}{}", "[".repeat(500_000), "]".repeat(500_000));
    let large = format!("\"{}\"", "x".repeat(256 * 1024));
    for (value, reason) in [
        (deep.as_str(), "it is larger than 262144 bytes"),
        (&deep[499_800..500_200], "it can't be read: recursion limit exceeded"),
        (&large, "it is larger than 262144 bytes"),
    ] {
        let good = r#"{"name":"good","healthy":true}"#;
        let body = format!(r#"[{{"name":"a","healthy":true,"x":{value}}},{good}]"#);
        let expected = (vec!["good".to_owned()], vec![format!("index 0: {reason}")]);
        assert_eq!(told(mapped(MAPPING, &body)), expected);
    }
}

#[test]
fn the_status_format_reads_nothing() {
    let format = Format::parse("status", None).unwrap();
    for body in [&b"OK"[..], b"", b"\xFF", b"[{\"name\":\"a\",\"healthy\":false}]"] {
        let report = format.read(body, NOW).unwrap();
        assert_eq!((report.dependencies, report.warnings), (vec![], vec![]));
    }
}
