//! Files of journeys: each is a journey within its bounds, or is refused with mistakes that stand in it.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/journeys/tests/any_file/holds.rs"]
mod holds;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        holds::holds(text);
    }
});
