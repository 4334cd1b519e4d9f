//! Generated repositories, by `git fast-import`: fast enough that a hundred thousand files need no patience.

use crate::common::{Repo, Sandbox, child};

/// A stream for `git fast-import`.
pub struct Stream(Vec<u8>);

impl Stream {
    /// Starts empty.
    pub fn new() -> Stream {
        Stream(Vec::new())
    }

    /// Starts a commit on a branch. Without a parent it is the branch's own last commit of this stream, if there is one.
    pub fn commit(&mut self, branch: &str, parent: Option<&str>) -> &mut Stream {
        self.text(&format!("commit refs/heads/{branch}\ncommitter A. Person <person@example.com> 1767323045 +0000\ndata 0\n"));
        if let Some(parent) = parent {
            self.text(&format!("from {parent}\n"));
        }
        self
    }

    /// Writes a file in the commit.
    pub fn file(&mut self, path: &str, content: &[u8]) -> &mut Stream {
        self.text(&format!("M 100644 inline {path}\ndata {}\n", content.len()));
        self.0.extend_from_slice(content);
        self.text("\n")
    }

    /// Moves a file in the commit.
    pub fn moved(&mut self, from: &str, to: &str) -> &mut Stream {
        self.text(&format!("R {from} {to}\n"))
    }

    fn text(&mut self, text: &str) -> &mut Stream {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// Imports it; new objects are packed.
    pub fn packed(&self, repo: &Repo<'_>) {
        self.import(repo, 0);
    }

    /// Imports it; new objects lie loose, as `git add` and `git commit` leave them.
    pub fn loose(&self, repo: &Repo<'_>) {
        self.import(repo, 10_000_000);
    }

    fn import(&self, repo: &Repo<'_>, unpack_limit: usize) {
        let limit = format!("fastimport.unpackLimit={unpack_limit}");
        child::run(repo.git_command(&["-c", &limit, "fast-import", "--quiet", "--force"]), &self.0).expect(0);
    }
}

/// Makes a repository of small files, a hundred a folder, packed as `git gc` packs. Its worktree stays empty: nothing here looks at it.
pub fn repository<'s>(sandbox: &'s Sandbox, name: &str, files: usize) -> Repo<'s> {
    let repo = sandbox.unborn(name);
    repo.git(&["config", "gc.auto", "0"]);
    let mut stream = Stream::new();
    stream.commit("main", None);
    for n in 0..files {
        stream.file(&path(n), &content(n));
    }
    stream.packed(&repo);
    repo.git(&["repack", "-adq"]);
    repo.git(&["read-tree", "main"]);
    repo
}

/// Returns the path of a file.
pub fn path(n: usize) -> String {
    format!("src/m{}/f{n}.rs", n / 100)
}

/// Returns the content of a file: forty lines, about a kilobyte.
pub fn content(n: usize) -> Vec<u8> {
    (0..40).map(|line| format!("let value_{line} = call({});\n", n * 40 + line)).collect::<String>().into_bytes()
}

/// Stages a line more in each of the first files, on top of what is committed. The index is as `git add` leaves it: the trees of the folders above are not known.
pub fn stage(repo: &Repo<'_>, count: usize, line: &str) {
    let mut stream = Stream::new();
    stream.commit("staged", Some("refs/heads/main"));
    for n in 0..count {
        stream.file(&path(n), &[&content(n), line.as_bytes()].concat());
    }
    stream.loose(repo);
    stage_branch(repo);
}

/// Stages what the branch `staged` has over `main`.
pub fn stage_branch(repo: &Repo<'_>) {
    repo.git(&["read-tree", "main"]);
    let changed = repo.git(&["diff-tree", "-r", "--no-renames", "main", "staged"]);
    let lines = changed.lines().map(|line| {
        let (fields, path) = line.split_once('\t').expect("a path behind a tab");
        let fields: Vec<&str> = fields.split(' ').collect();
        format!("{} {}\t{path}\n", fields[1], fields[3])
    });
    child::run(repo.git_command(&["update-index", "--index-info"]), lines.collect::<String>().as_bytes()).expect(0);
}
