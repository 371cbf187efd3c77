//! Mappings: one that is taken is taken back from its canonical text, and reads any body without harm.
//! The mapping ends and the body begins at the first NUL.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mainstay_base::Timestamp;
use mainstay_monitor::Format;

const NOW: Timestamp = Timestamp::from_millis(1_794_776_400_000);

/// What every mapping is tried on.
const BODY: &[u8] =
    br#"{"a": [{"name": "x", "healthy": "UP", "b": {"c.d": 1.5}}, 7], "healthy": true}"#;

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let config = parts.next().and_then(|config| std::str::from_utf8(config).ok());
    let Some(Ok(format)) = config.map(|config| Format::parse("schema", Some(config))) else {
        return;
    };
    let stored = format.schema_config().expect("it has a mapping");
    let again = Format::parse("schema", Some(&stored)).expect("what is stored is taken back");
    assert_eq!(again, format);
    assert_eq!(again.schema_config().as_deref(), Some(stored.as_str()), "canonical");
    for body in [BODY, parts.next().unwrap_or_default()] {
        assert_eq!(format.read(body, NOW), again.read(body, NOW));
    }
});
