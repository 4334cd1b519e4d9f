//! The installed scripts under the shells of this machine: who runs, in which order, with what input, and what refuses.

use super::shim::{Chain, Hook, render};
use crate::clock::{Deadline, Limit};
use crate::env::Env;
use crate::transport::process::{Caps, Child, Ended, Environment, Output, Stderr, find_on_path, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Says who it is and with which arguments, keeps its input, and returns the status in the file `status.NAME`.
const RECORDER: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo "review-gate 0.0.0"; exit 0; }
me=${0##*/} here=@HERE@
echo "$me to stdout"
{ printf '%s' "$me"; printf ' [%s]' "$@"; echo; } >>"$here/calls"
cat >"$here/stdin.$me"
ls "$here/tmp" >>"$here/leftovers"
exit "$(cat "$here/status.$me" 2>/dev/null || echo 0)"
"#;

struct Bench {
    dir: tempfile::TempDir,
    hook: Hook,
}

impl Bench {
    fn new(hook: Hook, chain: Chain) -> Bench {
        let dir = tempfile::Builder::new().prefix("it's a bench").tempdir().unwrap();
        for folder in ["tmp", "hooks"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let bench = Bench { dir, hook };
        fs::write(bench.hook_path(), render(hook, &bench.at("gate"), chain)).unwrap();
        let here = format!("'{}'", bench.dir.path().to_str().unwrap().replace('\'', r"'\''"));
        bench.script(&bench.at("gate"), &RECORDER.replace("@HERE@", &here));
        bench.script(&bench.at("hooks").join(hook.kept_name()), &RECORDER.replace("@HERE@", &here));
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn hook_path(&self) -> PathBuf {
        self.at("hooks").join(self.hook.name())
    }

    /// Writes a script through a child: a descriptor that this process had open for writing could be inherited elsewhere and keep it from running.
    fn script(&self, path: &Path, text: &str) {
        let write = Child { stdin: text.into(), ..self.child("/bin/sh".into(), &["-c", "cat >\"$0\" && chmod 755 \"$0\"", path.to_str().unwrap()]) };
        assert_eq!(end(write).ended, Ended::Exited(0));
    }

    fn child(&self, program: PathBuf, args: &[&str]) -> Child {
        Child {
            program,
            args: args.iter().map(Into::into).collect(),
            env: Environment::outside_repository(&Env::of_process()).with("TMPDIR", self.at("tmp")),
            cwd: self.dir.path().to_owned(),
            stdin: Vec::new(),
            stderr: Stderr::Captured,
        }
    }

    fn run(&self, shell: &[&str], args: &[&str], stdin: &[u8]) -> Output {
        let program = find_on_path(shell[0], &Env::of_process()).unwrap();
        let path = format!("hooks/{}", self.hook.name());
        let args = [&shell[1..], &[path.as_str()], args].concat();
        end(Child { stdin: stdin.to_vec(), ..self.child(program, &args) })
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap_or_default()
    }
}

fn end(child: Child) -> Output {
    run(child, Deadline::after(Duration::from_secs(20), Limit::Run), Caps { stdout: 1 << 20, stderr: 1 << 20 }).unwrap()
}

fn shells() -> impl Iterator<Item = &'static [&'static str]> {
    const SHELLS: &[&[&str]] = &[&["sh"], &["dash"], &["bash", "--posix"], &["bash"], &["busybox", "sh"], &["ksh"], &["mksh"]];
    SHELLS.iter().copied().filter(|shell| find_on_path(shell[0], &Env::of_process()).is_some())
}

const REMOTE: &[&str] = &["origin", "it's a $url"];

#[test]
fn the_kept_hook_comes_first_and_both_see_every_byte() {
    let mut lines = "refs/heads/a 1 refs/heads/a 0\n".repeat(36_000).into_bytes();
    lines.extend(b"fe\"a$t;\xff no newline at the end");
    for shell in shells() {
        let bench = Bench::new(Hook::PrePush, Chain::Kept);
        let out = bench.run(shell, REMOTE, &lines);
        assert_eq!(out.ended, Ended::Exited(0), "{shell:?}: {}", String::from_utf8_lossy(&out.stderr));
        let calls = "pre-push.review-gate-legacy [origin] [it's a $url]\ngate [hook] [pre-push] [--from-git] [--] [origin] [it's a $url]\n";
        assert_eq!(bench.read("calls"), calls, "{shell:?}");
        for name in ["stdin.gate", "stdin.pre-push.review-gate-legacy"] {
            assert!(fs::read(bench.at(name)).unwrap() == lines, "{shell:?}: {name} differs");
        }
        assert_eq!(out.stdout, b"pre-push.review-gate-legacy to stdout\n", "{shell:?}: the gate wrote to git's own stdout");
        assert_eq!(bench.read("leftovers"), "", "{shell:?}: the temporary file outlived its opening");
    }
}

#[test]
fn alone_it_hands_over_to_the_gate() {
    for shell in shells() {
        let bench = Bench::new(Hook::PrePush, Chain::None);
        let out = bench.run(shell, REMOTE, b"one line\n");
        assert_eq!((out.ended, out.stdout.as_slice()), (Ended::Exited(0), b"".as_slice()), "{shell:?}");
        assert_eq!(bench.read("calls"), "gate [hook] [pre-push] [--from-git] [--] [origin] [it's a $url]\n");
        assert_eq!(bench.read("stdin.gate"), "one line\n");
    }
}

#[test]
fn at_a_commit_the_kept_hook_comes_first_too() {
    for (hook, calls) in [
        (Hook::PreCommit, "pre-commit.review-gate-legacy []\ngate [hook] [pre-commit]\n"),
        (Hook::PreMergeCommit, "pre-merge-commit.review-gate-legacy []\ngate [hook] [pre-merge-commit]\n"),
    ] {
        for shell in shells() {
            let bench = Bench::new(hook, Chain::Kept);
            assert_eq!(bench.run(shell, &[], b"").ended, Ended::Exited(0), "{shell:?}");
            assert_eq!(bench.read("calls"), calls, "{shell:?}");
        }
    }
}

#[test]
fn either_status_refuses_and_the_gate_is_not_asked_after_a_refusal() {
    for hook in Hook::ALL {
        for shell in shells() {
            let bench = Bench::new(hook, Chain::Kept);
            fs::write(bench.at("status.gate"), "3").unwrap();
            assert_eq!(bench.run(shell, &[], b"").ended, Ended::Exited(3), "{hook:?} {shell:?}");
            fs::write(bench.at("status.gate"), "0").unwrap();
            fs::write(bench.at(&format!("status.{}", hook.kept_name())), "5").unwrap();
            fs::remove_file(bench.at("calls")).unwrap();
            let out = bench.run(shell, &[], b"");
            assert_eq!(out.ended, Ended::Exited(5), "{hook:?} {shell:?}");
            assert!(!bench.read("calls").contains("gate ["), "{hook:?} {shell:?}");
            assert!(String::from_utf8_lossy(&out.stderr).contains("refused the"), "{hook:?} {shell:?}");
        }
    }
}

#[test]
fn without_its_program_it_refuses_before_anything_runs() {
    for hook in Hook::ALL {
        for shell in shells() {
            for chain in [Chain::None, Chain::Kept] {
                let bench = Bench::new(hook, chain);
                fs::remove_file(bench.at("gate")).unwrap();
                let out = bench.run(shell, REMOTE, b"line\n");
                let said = String::from_utf8_lossy(&out.stderr).into_owned();
                assert_eq!((out.ended, out.stdout.as_slice()), (Ended::Exited(1), b"".as_slice()), "{said}");
                assert!(said.contains(bench.at("gate").to_str().unwrap()) && said.contains("review-gate install"), "{said}");
                assert_eq!(said.contains("review-gate-legacy"), chain == Chain::Kept, "{said}");
                assert_eq!(bench.read("calls"), "");
            }
        }
    }
}

#[test]
fn a_program_that_is_no_program_refuses() {
    for hook in Hook::ALL {
        for shell in shells() {
            let bench = Bench::new(hook, Chain::None);
            for impostor in ["#!/nonexistent/interpreter\n", "", "exit 0\n", "#!/bin/sh\necho other-tool 1.0\n", "\0\0\0\0"] {
                bench.script(&bench.at("gate"), impostor);
                assert_eq!(bench.run(shell, &[], b"").ended, Ended::Exited(1), "{hook:?} {shell:?} {impostor:?}");
            }
            fs::set_permissions(bench.at("gate"), PermissionsExt::from_mode(0o644)).unwrap();
            assert_eq!(bench.run(shell, &[], b"").ended, Ended::Exited(1), "{hook:?} {shell:?}");
            fs::remove_file(bench.at("gate")).unwrap();
            fs::create_dir(bench.at("gate")).unwrap();
            assert_eq!(bench.run(shell, &[], b"").ended, Ended::Exited(1), "{hook:?} {shell:?}");
        }
    }
}

#[test]
fn a_kept_hook_that_is_gone_refuses() {
    for hook in Hook::ALL {
        for shell in shells() {
            let bench = Bench::new(hook, Chain::Kept);
            fs::remove_file(bench.at("hooks").join(hook.kept_name())).unwrap();
            let out = bench.run(shell, &[], b"");
            assert_eq!(out.ended, Ended::Exited(1), "{hook:?} {shell:?}");
            assert!(String::from_utf8_lossy(&out.stderr).contains("cannot be run any more"), "{hook:?} {shell:?}");
            assert_eq!(bench.read("calls"), "");
        }
    }
}

#[test]
fn without_room_for_the_lines_it_refuses() {
    for shell in shells() {
        let bench = Bench::new(Hook::PrePush, Chain::Kept);
        fs::remove_dir(bench.at("tmp")).unwrap();
        assert_eq!(bench.run(shell, REMOTE, b"line\n").ended, Ended::Exited(1), "{shell:?}");
        assert_eq!(bench.read("calls"), "");
    }
}
