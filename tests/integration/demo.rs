//! The demo is a test of its own: five scenes, each of which must go as it says.

use crate::common::{GATE, Sandbox, child};
use std::fs;

#[test]
fn the_demo_plays_its_five_scenes_and_cleans_up() {
    let sandbox = Sandbox::new();
    let mut demo = sandbox.command(GATE);
    demo.arg("demo").current_dir(sandbox.path());
    let run = child::run(demo, b"").expect(0);
    assert_eq!(run.stdout.matches("$ git push").count(), 5, "a push a scene; {run}");
    assert!(run.stdout.contains("passed before with this content"), "the second remote gets it by a receipt; {run}");
    for text in ["1.", "2.", "3.", "4.", "5.", "CRITICAL", "override", "refused"] {
        assert!(run.stdout.contains(text), "the demo shows {text:?}; {run}");
    }
    assert_eq!(fs::read_dir(sandbox.path().join("tmp")).unwrap().count(), 0, "the throw-away folder is gone");
    assert!(!sandbox.config_file().exists(), "the demo writes no user configuration");
}

#[test]
fn the_demo_takes_nothing_from_the_users_world() {
    let sandbox = Sandbox::new();
    sandbox.configure_raw("this is: [no configuration\n");
    sandbox.git_config("[commit]\n\tgpgsign = true\n[core]\n\thooksPath = /nonexistent\n[push]\n\tdefault = nothing\n");
    let mut demo = sandbox.command(GATE);
    demo.arg("demo").current_dir(sandbox.path()).env("CLAUDECODE", "1").env("REVIEW_TIER", "full");
    child::run(demo, b"").expect(0);
}
