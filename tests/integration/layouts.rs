//! Repositories that somebody laid out to be misread (threat T21). Whatever the layout: nothing is written outside the gate's own folder, nothing that the
//! repository names is run, and the change is reviewed as git would take it, or refused.

use crate::common::{Behaviour, EVIL, GOOD, Gate, Peer, Repo, Reviewer, Run, Sandbox, ZERO, child};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A published repository in a world where every write is noticed. Its configuration names commands for everything that git would start.
struct Trap {
    sandbox: Sandbox,
    peer: Peer,
}

impl Trap {
    fn new() -> Trap {
        let (sandbox, peer) = (Sandbox::new(), Peer::new(Behaviour::Honest));
        sandbox.configure(&[Reviewer::qwen(&peer)], "");
        Trap { sandbox, peer }
    }

    /// Makes the repository; the commands go in last, because git would run them as well.
    fn repo(&self) -> Repo<'_> {
        self.sandbox.published()
    }

    fn marker(&self) -> PathBuf {
        self.sandbox.path().join("was-run")
    }

    /// Runs the gate between two looks at the world.
    #[track_caller]
    fn watch(&self, repo: &Repo<'_>, gate: Gate) -> Run {
        let run_me = format!("touch {}", self.marker().display());
        let config = repo.path().join(".git/config");
        if config.is_file() {
            let keys = "\tfsmonitor = {}\n\tsshCommand = {}\n\tpager = {}\n\teditor = {}\n\taskPass = {}\n[diff]\n\texternal = {}\n[diff \"x\"]\n\ttextconv = {}\n\tcommand = {}\n[filter \"x\"]\n\tclean = {}\n\tsmudge = {}\n\tprocess = {}\n\trequired\n[credential]\n\thelper = !{}\n";
            let text = fs::read_to_string(&config).unwrap_or_default();
            fs::write(&config, format!("{text}[core]\n{}", keys.replace("{}", &run_me))).unwrap();
        }
        let before = world(self.sandbox.path());
        let run = gate.run();
        let after = world(self.sandbox.path());
        let changed: Vec<&PathBuf> = before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
        assert!(changed.is_empty(), "written to outside of the gate's folder: {changed:?}; {run}");
        assert!(!self.marker().exists(), "something was run; {run}");
        run
    }

    /// Pushes an object as a new branch.
    #[track_caller]
    fn push(&self, repo: &Repo<'_>, oid: &str) -> Run {
        let line = format!("refs/heads/x {oid} refs/heads/x {ZERO}\n");
        self.watch(repo, repo.gate(&["hook", "pre-push", "--from-git", "origin", "url"]).stdin(&line))
    }

    #[track_caller]
    fn staged(&self, repo: &Repo<'_>) -> Run {
        self.watch(repo, repo.gate(&["hook", "pre-commit"]))
    }

    /// A refusal without a question.
    #[track_caller]
    fn unasked(&self, run: Run) -> Run {
        assert!(self.peer.requests().is_empty(), "a reviewer was asked; {run}");
        run.expect_refused()
    }
}

/// Everything below a folder but the gate's own: what it is and what it holds.
fn world(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(dir: &Path, seen: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_symlink() {
                seen.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            } else if meta.is_dir() {
                if !(path.ends_with("review-gate") && dir.join("HEAD").exists()) {
                    seen.insert(path.clone(), b"folder".to_vec());
                    collect(&path, seen);
                }
            } else {
                seen.insert(path.clone(), fs::read(&path).unwrap_or_default());
            }
        }
    }
    let mut seen = BTreeMap::new();
    collect(root, &mut seen);
    seen
}

/// Stores an object without a look at what it is.
fn store(repo: &Repo<'_>, kind: &str, content: &[u8]) -> String {
    let run = child::run(repo.git_command(&["hash-object", "-w", "--literally", "--stdin", "-t", kind]), content);
    run.expect(0).stdout.trim().to_owned()
}

fn raw(oid: &str) -> Vec<u8> {
    (0..oid.len() / 2).map(|at| u8::from_str_radix(&oid[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// A tree of these entries, as they are.
fn tree(repo: &Repo<'_>, entries: &[(&str, &[u8], &str)]) -> String {
    let content: Vec<u8> = entries.iter().flat_map(|(mode, name, oid)| [mode.as_bytes(), b" ", name, b"\0", &raw(oid)].concat()).collect();
    store(repo, "tree", &content)
}

fn commit(repo: &Repo<'_>, tree: &str) -> String {
    let text = format!("tree {tree}\nparent {}\nauthor a <a@b> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n\nm\n", repo.oid("main"));
    store(repo, "commit", text.as_bytes())
}

fn evil(repo: &Repo<'_>) -> String {
    store(repo, "blob", EVIL.as_bytes())
}

#[test]
fn t21_01_a_state_folder_that_is_a_link_is_not_followed() {
    let trap = Trap::new();
    let repo = trap.repo();
    fs::create_dir(trap.sandbox.path().join("elsewhere")).unwrap();
    symlink(trap.sandbox.path().join("elsewhere"), repo.path().join(".git/review-gate")).unwrap();
    repo.write("run.rs", GOOD).add();
    let run = trap.staged(&repo);
    trap.unasked(run).says("review-gate");
}

#[test]
fn t21_02_a_ledger_that_is_a_link_is_not_followed() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.gate(&["install", "--force"]).run().expect(0);
    let target = trap.sandbox.path().join("precious");
    fs::write(&target, "precious\n").unwrap();
    let state = repo.path().join(".git/review-gate");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    symlink(&target, state.join("ledger.jsonl")).unwrap();
    repo.write("run.rs", GOOD).add();
    let run = trap.staged(&repo);
    trap.unasked(run).expect(14);
}

#[test]
fn t21_03_a_git_file_that_leads_elsewhere_is_followed_as_git_follows_it() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.write("run.rs", EVIL).add();
    let elsewhere = trap.sandbox.path().join("elsewhere");
    fs::rename(repo.path().join(".git"), &elsewhere).unwrap();
    fs::write(repo.path().join(".git"), format!("gitdir: {}\n", elsewhere.display())).unwrap();
    assert_eq!(repo.git(&["diff", "--cached", "--name-only"]), "run.rs");
    // The ledger is in the git folder, wherever that is.
    repo.gate(&["hook", "pre-commit"]).run().expect(1).says("run.rs:1");
    assert!(elsewhere.join("review-gate/ledger.jsonl").exists());
}

#[test]
fn t21_04_a_bare_repository_inside_a_worktree_is_no_trap() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.write("run.rs", EVIL).add();
    let inner = repo.path().join("docs/bare");
    fs::create_dir_all(&inner).unwrap();
    child::run(repo.git_command(&["init", "-q", "--bare", "docs/bare"]), b"").expect(0);
    let config = fs::read_to_string(inner.join("config")).unwrap();
    let touch = format!("touch {}", trap.marker().display());
    fs::write(
        inner.join("config"),
        format!("{config}\tworktree = ..\n\tfsmonitor = {touch}\n\thooksPath = .\n").replace("bare = true", "bare = false"),
    )
    .unwrap();
    fs::write(inner.join("x.rs"), EVIL).unwrap();
    // Whoever stands in it is in that repository, for git and the gate alike, and it has nothing to say.
    for args in [&["run"][..], &["run", "--worktree"], &["diff"], &["run", "--push"]] {
        trap.watch(&repo, Repo::at(&trap.sandbox, inner.clone()).gate(args)).never_says("x.rs");
    }
    assert!(trap.peer.requests().is_empty());
    // A hook never stands there: git runs it at the top.
    trap.staged(&repo).expect(1).says("run.rs:1");
}

#[test]
fn t21_05_names_with_newlines_quotes_escapes_and_dashes_are_names() {
    let trap = Trap::new();
    let repo = trap.repo();
    let names: [&[u8]; 7] = [b"-rf", b"--output=x", b"a\nb.rs", b"\"q\".rs", b"t\tb.rs", b"\x1b[2Je.rs", b"lat\xe9.rs"];
    let blob = evil(&repo);
    let mut entries: Vec<(&str, &[u8], &str)> = names.iter().map(|name| ("100644", *name, blob.as_str())).collect();
    entries.sort_by_key(|(_, name, _)| *name);
    let tip = commit(&repo, &tree(&repo, &entries));
    let line = format!("x {tip} refs/heads/x {ZERO}\n");
    let (run, report) = repo.gate(&["hook", "pre-push", "--from-git", "origin", "url"]).stdin(&line).report();
    let run = run.expect(1);
    assert!(!run.stderr.contains('\u{1b}') && !repo.path().join("x").exists(), "{run}");
    assert_eq!(report["findings"].as_array().unwrap().len(), names.len(), "{report}");
    assert_eq!(report["subjects"][0]["change"]["files"], names.len() + 1, "and README, which is gone");
    trap.push(&repo, &tip).expect_refused();
}

#[test]
fn t21_06_names_that_differ_in_case_alone_are_two_files() {
    let trap = Trap::new();
    let repo = trap.repo();
    let (bad, good) = (evil(&repo), store(&repo, "blob", GOOD.as_bytes()));
    let tip = commit(&repo, &tree(&repo, &[("100644", b"RUN.rs", &bad), ("100644", b"Run.rs", &good), ("100644", b"run.rs", &bad)]));
    repo.git(&["config", "core.ignoreCase", "true"]);
    trap.push(&repo, &tip).expect(1).says("RUN.rs:1").says("run.rs:1").never_says("Run.rs:1");
}

/// CVE-2025-48384: with a carriage return at its end a submodule's path is another one for the reader of the file than for its writer.
#[test]
fn t21_07_a_submodule_path_with_a_carriage_return_is_data() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.write(".gitmodules", "[submodule \"x\"]\n\tpath = \"sub\r\"\n\turl = -u./payload\n\tupdate = !touch was-run\n");
    symlink(".git/hooks", repo.path().join("sub\r")).unwrap();
    repo.add();
    repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},sub", repo.oid("HEAD"))]);
    let run = trap.staged(&repo);
    assert!(trap.peer.received("Subproject commit") && trap.peer.received("payload"), "{run}");
    assert!(!repo.path().join("sub").exists());
}

#[test]
fn t21_08_a_tree_of_five_thousand_levels_is_refused_by_name() {
    let trap = Trap::new();
    let repo = trap.repo();
    // In one process: a start of git for each level takes minutes.
    let mut input = String::from("blob\nmark :1\ndata 1\nx\ncommit refs/heads/deep\ncommitter a <a@b> 1700000000 +0000\ndata 1\nm\nM 100644 :1 ");
    input += &"d/".repeat(5000);
    input += "x\n";
    child::run(repo.git_command(&["-c", "core.maxTreeDepth=10000", "fast-import", "--quiet"]), input.as_bytes()).expect(0);
    let run = trap.push(&repo, &repo.oid("deep"));
    trap.unasked(run).says("directories inside each other");
    let mut inner = tree(&repo, &[("100644", b"x.rs", &evil(&repo))]);
    for _ in 0..40 {
        inner = tree(&repo, &[("40000", b"d", &inner)]);
    }
    trap.push(&repo, &commit(&repo, &inner)).expect(1).says("x.rs:1");
}

#[test]
fn t21_09_a_path_of_four_thousand_bytes_is_reviewed() {
    let trap = Trap::new();
    let repo = trap.repo();
    let name = [vec![b'n'; 4093], b".rs".to_vec()].concat();
    let tip = commit(&repo, &tree(&repo, &[("100644", &name, &evil(&repo))]));
    trap.push(&repo, &tip).expect(1).says("nnnn.rs:1");
}

#[test]
fn t21_10_a_name_that_is_in_a_tree_twice_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    let (bad, good) = (evil(&repo), store(&repo, "blob", GOOD.as_bytes()));
    let folder = tree(&repo, &[("100644", b"x", &bad)]);
    for entries in [
        [("100644", &b"a"[..], bad.as_str()), ("100644", b"a", good.as_str())],
        [("100644", b"a", good.as_str()), ("100755", b"a", bad.as_str())],
        [("100644", b"a", good.as_str()), ("120000", b"a", bad.as_str())],
        [("40000", b"a", folder.as_str()), ("40000", b"a", folder.as_str())],
    ] {
        let run = trap.push(&repo, &commit(&repo, &tree(&repo, &entries)));
        trap.unasked(run).expect(15).says("out of order");
    }
}

/// A file and a folder of one name: git sorts them apart, and whichever is checked out hides the other.
#[test]
fn t21_11_a_file_and_a_folder_of_one_name_are_refused_or_both_shown() {
    let trap = Trap::new();
    let repo = trap.repo();
    let folder = tree(&repo, &[("100644", b"x.rs", &evil(&repo))]);
    let tip = commit(&repo, &tree(&repo, &[("100644", b"a", &store(&repo, "blob", GOOD.as_bytes())), ("40000", b"a", &folder)]));
    let run = trap.push(&repo, &tip).expect_refused();
    assert!(run.status == 15 || run.stderr.contains("a/x.rs:1"), "{run}");
}

#[test]
fn t21_12_a_git_folder_in_a_tree_is_shown_like_any_other() {
    let trap = Trap::new();
    let repo = trap.repo();
    let hooks = tree(&repo, &[("100755", b"pre-commit", &evil(&repo))]);
    for name in [&b".git"[..], b".GIT", b"git~1", b".g\xe2\x80\x8cit"] {
        let inner = tree(&repo, &[("40000", b"hooks", &hooks)]);
        let run = trap.push(&repo, &commit(&repo, &tree(&repo, &[("40000", name, &inner)]))).expect_refused();
        // A name with a hidden character stands in quotes.
        assert!(run.status == 15 || run.stderr.replace('"', "").contains("hooks/pre-commit:1"), "{run}");
    }
}

#[test]
fn t21_13_a_mode_with_a_leading_zero_is_the_mode() {
    let trap = Trap::new();
    let repo = trap.repo();
    let inner = tree(&repo, &[("0100644", b"x.rs", &evil(&repo))]);
    let tip = commit(&repo, &tree(&repo, &[("040000", b"d", &inner)]));
    trap.push(&repo, &tip).expect(1).says("d/x.rs:1");
}

#[test]
fn t21_14_a_mode_that_git_does_not_know_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    for mode in ["140000", "060000", "0", "100648", "-100644", "100644\t", ""] {
        let run = trap.push(&repo, &commit(&repo, &tree(&repo, &[(mode, b"a", &evil(&repo))])));
        trap.unasked(run).expect(15);
    }
}

#[test]
fn t21_15_a_tree_that_is_not_sorted_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    let blob = evil(&repo);
    let run = trap.push(&repo, &commit(&repo, &tree(&repo, &[("100644", b"b", &blob), ("100644", b"a", &blob)])));
    trap.unasked(run).expect(15).says("out of order");
}

#[test]
fn t21_16_names_that_lead_out_of_their_folder_are_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    for name in [&b".."[..], b".", b"", b"a/b", b"/etc/passwd", b"../../x"] {
        let run = trap.push(&repo, &commit(&repo, &tree(&repo, &[("100644", name, &evil(&repo))])));
        trap.unasked(run).expect(15).says("no file name");
    }
    assert!(!trap.sandbox.path().join("x").exists());
}

#[test]
fn t21_17_a_tree_that_is_cut_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    for content in [&b"100644 a\0short"[..], b"100644 a", b"100644", b"\0", b"100644 a\0"] {
        let run = trap.push(&repo, &commit(&repo, &store(&repo, "tree", content)));
        trap.unasked(run).expect(15);
    }
}

#[test]
fn t21_18_a_commit_that_cannot_be_read_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    let (tree, blob) = (repo.oid("main^{tree}"), evil(&repo));
    let people = "author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nm\n";
    for text in [
        String::new(),
        "garbage".to_owned(),
        people.to_owned(),
        format!("tree {tree}\n"),
        format!("tree {}\n{people}", &tree[..20]),
        format!("tree {blob}\n{people}"),
        format!("tree {}\n{people}", "1".repeat(40)),
        format!("tree {tree}\nparent {blob}\n{people}"),
        format!("tree {tree}\nparent {}\n{people}", "2".repeat(40)),
    ] {
        let oid = store(&repo, "commit", text.as_bytes());
        let run = trap.push(&repo, &oid);
        trap.unasked(run).expect(15);
    }
}

#[test]
fn t21_19_a_long_chain_of_tags_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.branch("t", "main").write("run.rs", EVIL).commit("evil");
    let (mut at, mut kind) = (repo.oid("HEAD"), "commit");
    let tag = |at: &str, kind: &str| format!("object {at}\ntype {kind}\ntag t\ntagger a <a@b> 1 +0000\n\nm\n");
    for n in 0..40 {
        at = store(&repo, "tag", tag(&at, kind).as_bytes());
        kind = "tag";
        if n == 3 {
            trap.push(&repo, &at).expect(1).says("run.rs:1");
        }
    }
    trap.push(&repo, &at).expect(15).says("tags around each other");
    let lost = store(&repo, "tag", tag(&"3".repeat(40), "commit").as_bytes());
    trap.push(&repo, &lost).expect(15);
    let lies = store(&repo, "tag", tag(&repo.oid("HEAD"), "blob").as_bytes());
    trap.push(&repo, &lies).expect_refused();
}

#[test]
fn t21_20_refs_that_lead_in_circles_end() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.branch("t", "main").write("run.rs", EVIL).commit("evil");
    let refs = repo.path().join(".git/refs");
    symlink("loop", refs.join("heads/loop")).unwrap();
    symlink("..", refs.join("remotes/origin/up")).unwrap();
    for (name, to) in [("one", "two"), ("two", "one"), ("HEAD", "HEAD")] {
        fs::write(refs.join("remotes/origin").join(name), format!("ref: refs/remotes/origin/{to}\n")).unwrap();
    }
    let run = trap.push(&repo, &repo.oid("t")).expect_refused();
    assert!(run.status == 2 || run.stderr.contains("run.rs:1"), "{run}");
    let run = trap.watch(&repo, repo.gate(&["run", "--range", "main..t"])).expect_refused();
    assert!(run.status == 2 || run.stdout.contains("run.rs:1"), "{run}");
}

#[test]
fn t21_21_packed_refs_that_cannot_be_read_are_no_empty_list() {
    for garbage in [&b"garbage\n"[..], b"\0\0\0\0", b"# pack-refs with: sorted \nzz refs/heads/a\n", &[0xff; 4096]] {
        let trap = Trap::new();
        let repo = trap.repo();
        repo.branch("t", "main").write("run.rs", EVIL).commit("evil");
        let tip = repo.oid("t");
        fs::write(repo.path().join(".git/packed-refs"), garbage).unwrap();
        let run = trap.push(&repo, &tip).expect_refused();
        assert!(run.status == 2 || run.stderr.contains("run.rs:1"), "{}: {run}", garbage.escape_ascii());
    }
}

#[test]
fn t21_22_a_head_that_cannot_be_read_is_refused() {
    for garbage in ["garbage", "", "ref: ", "ref: ../../x", "ref: refs/heads/../../x", "\0", "ref: refs/heads/a b"] {
        let trap = Trap::new();
        let repo = trap.repo();
        repo.write("run.rs", EVIL).add();
        fs::write(repo.path().join(".git/HEAD"), garbage).unwrap();
        let run = trap.staged(&repo).expect_refused();
        assert!(run.status == 2 || run.stderr.contains("run.rs:1"), "{garbage:?}: {run}");
    }
}

#[test]
fn t21_23_git_files_that_lead_in_circles_are_no_repository() {
    for target in [".git", ".", "../work", "a", "/dev/null", ""] {
        let trap = Trap::new();
        let repo = trap.repo();
        fs::rename(repo.path().join(".git"), trap.sandbox.path().join("kept")).unwrap();
        fs::write(repo.path().join(".git"), format!("gitdir: {target}\n")).unwrap();
        repo.write("a", "gitdir: .git\n").write("run.rs", EVIL);
        let run = trap.watch(&repo, repo.gate(&["hook", "pre-commit"]));
        trap.unasked(run).expect(2);
    }
}

#[test]
fn t21_24_alternates_that_lead_in_circles_end() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.write("run.rs", EVIL).add();
    let other = trap.sandbox.path().join("other");
    fs::create_dir_all(other.join("info")).unwrap();
    let mine = repo.path().join(".git/objects");
    fs::write(mine.join("info/alternates"), format!("{}\n", other.display())).unwrap();
    fs::write(other.join("info/alternates"), format!("{}\n/nonexistent\n", mine.display())).unwrap();
    let run = trap.staged(&repo).expect_refused();
    assert!(run.status == 2 || run.stderr.contains("run.rs:1"), "{run}");
    fs::write(mine.join("info/alternates"), format!("{}\n.\n../objects\n", mine.display())).unwrap();
    trap.staged(&repo).expect_refused();
}

#[test]
fn t21_25_an_index_that_cannot_be_read_is_refused() {
    let trap = Trap::new();
    let repo = trap.repo();
    for n in 0..9 {
        repo.write(&format!("f{n}.rs"), EVIL);
    }
    repo.add();
    let index = repo.path().join(".git/index");
    let whole = fs::read(&index).unwrap();
    let mut bits = whole.clone();
    bits[8] = 0x7f;
    let mut version = whole.clone();
    version[7] = 9;
    for content in [b"garbage".to_vec(), whole[..whole.len() / 2].to_vec(), whole[..13].to_vec(), Vec::from([0; 64]), bits, version] {
        fs::write(&index, &content).unwrap();
        let run = trap.staged(&repo);
        trap.unasked(run).expect_refused().says("index");
    }
    // A wrong checksum: git reads past it, and so what git would commit is what is reviewed.
    let mut checksum = whole;
    let last = checksum.len() - 1;
    checksum[last] ^= 1;
    fs::write(&index, checksum).unwrap();
    trap.staged(&repo).expect(1).says("f0.rs:1");
}

#[test]
fn t21_26_objects_that_cannot_be_read_are_refused() {
    for damage in ["gone", "cut", "folder", "garbage", "link"] {
        let trap = Trap::new();
        let repo = trap.repo();
        repo.write("run.rs", EVIL).add();
        let oid = repo.oid(":run.rs");
        let file = repo.path().join(".git/objects").join(&oid[..2]).join(&oid[2..]);
        let content = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        match damage {
            "gone" => {}
            "cut" => fs::write(&file, &content[..content.len() / 2]).unwrap(),
            "folder" => fs::create_dir(&file).unwrap(),
            "garbage" => fs::write(&file, "garbage").unwrap(),
            _ => symlink("/dev/null", &file).unwrap(),
        }
        let run = trap.staged(&repo);
        trap.unasked(run).says(&oid);
    }
}

/// Keys of the git library that git does not know, by every way that configuration comes in.
#[test]
fn t21_27_configuration_cannot_name_another_index() {
    let trap = Trap::new();
    let repo = trap.repo();
    fs::copy(repo.path().join(".git/index"), repo.path().join(".git/harmless")).unwrap();
    repo.write("run.rs", EVIL).add();
    let gate = || repo.gate(&["hook", "pre-commit"]);
    let variables =
        |gate: Gate| gate.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "gitoxide.core.indexFile").env("GIT_CONFIG_VALUE_0", "harmless");
    trap.watch(&repo, variables(gate())).expect(1).says("run.rs:1");
    trap.sandbox.git_config("[gitoxide \"core\"]\n\tindexFile = harmless\n");
    trap.watch(&repo, gate()).expect(1).says("run.rs:1");
    repo.git(&["config", "gitoxide.core.indexFile", "harmless"]);
    trap.watch(&repo, gate()).expect(1).says("run.rs:1");
}

#[test]
fn t21_28_configuration_that_includes_itself_ends() {
    let trap = Trap::new();
    let repo = trap.repo();
    repo.write("run.rs", EVIL).add();
    let config = repo.path().join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    for target in ["config", "../.git/config", "no-such-file"] {
        fs::write(&config, format!("{text}[include]\n\tpath = {target}\n")).unwrap();
        let run = trap.staged(&repo).expect_refused();
        assert!(run.status == 2 || run.stderr.contains("run.rs:1"), "{target}: {run}");
    }
}
