//! The commands of the guide, as they stand there.

use std::process::Command;

use super::house::{House, NEVER};

const GUIDE: &str = include_str!("../../../../../docs/guide/fleet.md");

#[test]
fn the_first_worker_of_the_guide_comes_up_and_goes() {
    let house = House::new(NEVER);
    let blocks = GUIDE.split("```sh\n").skip(1).take(3);
    let script: String = blocks.map(|block| block.split("```").next().unwrap()).collect();
    let (address, token) = (&house.server.address, &house.token);
    let script = script.replace("http://127.0.0.1:7373", &format!("http://{address}"));
    let script = script.replace("mst_…", token);
    let output = Command::new("bash").args(["-euc", &script]).output().unwrap();
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    for words in ["\"status\":\"ready\"", "\"load_state\":\"loaded\"", "\"status\":\"pending\""] {
        assert!(out.contains(words), "{words}\n{out}\n{error}");
    }
    assert_eq!(house.agents(), [], "the last command ends it");
}
