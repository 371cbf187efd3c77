//! Where nodes are drawn, as every instance has it.

use std::collections::BTreeMap;

use mainstay_graph::{Key, Place, Places};
use serde::{Deserialize, Serialize};

/// The places as they are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    /// By number.
    services: BTreeMap<i64, (i32, i32)>,
    /// By key.
    things: BTreeMap<String, (i32, i32)>,
}

/// The places as a text.
#[must_use]
pub fn encode(places: &Places) -> String {
    let mut stored = Stored::default();
    for (key, place) in places {
        let place = (place.x, place.y);
        match key {
            Key::Service(number) => drop(stored.services.insert(*number, place)),
            Key::External(key) => drop(stored.things.insert(key.to_string(), place)),
        }
    }
    // Maps of numbers and texts: there is nothing in them that JSON can't hold.
    serde_json::to_string(&stored).unwrap_or_default()
}

/// The places of a text; none when it is not one, so that everything is drawn anew.
#[must_use]
pub fn decode(text: &str) -> Places {
    let stored: Stored = serde_json::from_str(text).unwrap_or_default();
    let services = stored.services.into_iter().map(|(number, at)| (Key::Service(number), at));
    let things = stored.things.into_iter().map(|(key, at)| (Key::External(key.into()), at));
    services.chain(things).map(|(key, (x, y))| (key, Place { x, y })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_back() {
        let places = Places::from([
            (Key::Service(7), Place { x: -3, y: 2 }),
            (Key::External("orders \"db\"".into()), Place { x: 4, y: -1 }),
        ]);
        assert_eq!(decode(&encode(&places)), places);
        assert_eq!(decode("{"), Places::new());
        assert_eq!(decode(&encode(&Places::new())), Places::new());
    }
}
