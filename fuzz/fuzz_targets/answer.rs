//! Bodies of health endpoints: each format ends, the same way each time, within its bounds.
#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mainstay_base::Timestamp;
use mainstay_monitor::Format;
use mainstay_monitor::formats::bounds::{MAX_ITEMS, MAX_JSON_BYTES, MAX_LATENCY, MAX_WARNINGS};

const NOW: Timestamp = Timestamp::from_millis(1_794_776_400_000);

/// The default and a mapping that looks everywhere.
static FORMATS: LazyLock<[Format; 2]> = LazyLock::new(|| {
    let mapping = r#"{"root": "", "fields": {
        "name": "$key", "healthy": "healthy", "latency": "health.latency", "skipped": "health.skipped",
        "type": "type", "impact": "impact", "description": "a\\.b[0]", "contact": "contact",
        "checkDetails": "$", "error": "error", "errorMessage": "errorMessage"}}"#;
    let mapped = Format::parse("schema", Some(mapping)).expect("the mapping is right");
    [Format::ProactiveDeps, mapped]
});

fuzz_target!(|body: &[u8]| {
    for format in FORMATS.iter() {
        let read = format.read(body, NOW);
        assert_eq!(read, format.read(body, NOW), "the same each time");
        let Ok(report) = read else { continue };
        let names: HashSet<&str> =
            report.dependencies.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names.len(), report.dependencies.len(), "each name once");
        assert!(names.len() <= MAX_ITEMS && report.warnings.len() <= MAX_WARNINGS);
        for one in &report.dependencies {
            assert!(
                !one.name.trim().is_empty() && one.latency <= MAX_LATENCY && one.checked_at <= NOW
            );
            for json in [&one.contact, &one.check_details, &one.error].into_iter().flatten() {
                assert!(json.len() <= MAX_JSON_BYTES && !json.contains('\0'));
            }
        }
    }
});
