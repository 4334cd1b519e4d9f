//! Opens the repository that git or the user means, with everything switched off that could make it read another history than the one that is pushed.
//!
//! Replace refs, grafts and the commit graph have no say (threat T4). Git's own rule about who owns a repository holds: what git would not touch is
//! refused here too. A format that cannot be read is named, never taken for an empty repository.

use super::GitError;
use super::plumbing::Git;
use super::refs::Copied;
use super::text::MAX_TEXT;
use super::{alternates, object};
use crate::change::Oid;
use crate::env::Env;
use gix::bstr::{BString, ByteSlice as _};
use gix::config::Source;
use gix::sec::Permission;
use gix::sec::trust::Mapping;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Repository extensions that gix reads as git does, beside `refstorage`, which is looked at by value ([`RefFormat`]).
const KNOWN_EXTENSIONS: [&str; 6] = ["noop", "partialclone", "preciousobjects", "objectformat", "worktreeconfig", "relativeworktrees"];

/// An open repository. Read only: nothing in here writes to the index, the worktree, refs or configuration.
pub struct Repo {
    pub(super) gix: gix::Repository,
    git_dir: PathBuf,
    common_dir: PathBuf,
    /// Where `gix` reads refs that it cannot read where they are; it then also takes that place for the git folder.
    _refs: Option<Copied>,
    /// Where `gix` finds object directories that only a variable names.
    _lists: Option<tempfile::TempDir>,
}

/// How a repository keeps its refs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RefFormat {
    /// As files, which gix reads.
    Files,
    /// In tables, which only git reads.
    Reftable,
}

/// Where a configuration value was set, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The repository's own configuration, or the worktree's.
    Local,
    /// The user's configuration.
    Global,
    /// The machine's configuration.
    System,
    /// The command line or a variable.
    Command,
}

/// The directory that git runs hooks from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HooksDir {
    /// The directory, absolute; a relative `core.hooksPath` is below the top of the worktree, where git runs hooks.
    pub path: PathBuf,
    /// Where `core.hooksPath` was set; `None` where it is not, and hooks are in the common directory that all worktrees share.
    pub set_in: Option<Scope>,
}

impl Repo {
    /// Opens the repository that `GIT_DIR` names, else the one that `cwd` is in. `GIT_WORK_TREE` and `GIT_INDEX_FILE` are honoured, relative to `cwd`:
    /// `git commit -a` and `git commit PATH` put what will be committed into a temporary index (case P1).
    ///
    /// # Errors
    ///
    /// No repository; one that belongs to someone else and is not in `safe.directory`; a format that is not read; a server-side quarantine.
    pub fn discover(cwd: &Path, env: &Env) -> Result<Repo, GitError> {
        refuse_server_side(env)?;
        let options = options(cwd, env);
        let opened = match env.path("GIT_DIR") {
            Some(dir) => gix::open_opts(cwd.join(dir), options),
            None => discover_above(cwd, env, options),
        };
        let (mut gix, lists) = alternates::add(opened.map_err(|error| explain(cwd, error))?, cwd, env)?;
        let (git_dir, common_dir) = (gix.git_dir().to_owned(), gix.common_dir().to_owned());
        let refs = match ref_format(&gix)? {
            RefFormat::Files => None,
            RefFormat::Reftable => Some(Copied::from(&Git::at(&gix.current_dir().join(&git_dir), env)?)?),
        };
        refs.iter().try_for_each(|refs| refs.serve(&mut gix))?;
        gix.refs.namespace = None;
        gix.objects.ignore_replacements = true;
        gix.object_cache_size_if_unset(8 * 1024 * 1024);
        Ok(Repo { gix, git_dir, common_dir, _refs: refs, _lists: lists })
    }

    /// Returns the directory that all worktrees share: objects, refs, configuration, and the gate's ledger.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the git directory of this worktree.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Returns the top of the worktree; `None` in a bare repository.
    pub fn work_dir(&self) -> Option<&Path> {
        self.gix.workdir()
    }

    /// Tells whether there is no worktree.
    pub(super) fn is_bare(&self) -> bool {
        self.work_dir().is_none()
    }

    /// Returns HEAD's commit; `None` where there is none yet.
    pub fn head_commit(&self) -> Result<Option<Oid>, GitError> {
        let head = self.gix.head().map_err(GitError::other("read HEAD"))?;
        let id = head.try_into_peeled_id().map_err(GitError::other("follow HEAD to a commit"))?;
        Ok(id.map(|id| object::oid(&id)))
    }

    /// Returns the directory that git runs hooks from, and who decided so.
    pub fn hooks_dir(&self) -> HooksDir {
        let config = self.gix.config_snapshot();
        let Ok((value, section)) = config.plumbing().raw_value_with_section("core.hooksPath") else {
            return HooksDir { path: self.absolute(self.common_dir()).join("hooks"), set_in: None };
        };
        let path = config.trusted_path("core.hooksPath").ok().flatten().unwrap_or_else(|| PathBuf::from(value.to_os_str_lossy().into_owned()));
        let top = self.absolute(self.work_dir().unwrap_or(self.git_dir()));
        HooksDir { path: top.join(path), set_in: Some(scope(section.meta().source)) }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.gix.current_dir().join(path)
    }
}

fn scope(source: Source) -> Scope {
    match source {
        Source::GitInstallation | Source::System => Scope::System,
        Source::Git | Source::User => Scope::Global,
        Source::Local | Source::Worktree => Scope::Local,
        Source::Env | Source::Cli | Source::Api | Source::EnvOverride => Scope::Command,
    }
}

fn discover_above(cwd: &Path, env: &Env, options: gix::open::Options) -> gix::Result<gix::Repository> {
    let ceilings = env.os("GIT_CEILING_DIRECTORIES").map(|dirs| std::env::split_paths(dirs).filter(|dir| dir.is_absolute()).collect());
    let how = gix::discover::upwards::Options {
        ceiling_dirs: ceilings.unwrap_or_default(),
        match_ceiling_dir_or_error: false,
        cross_fs: env.os("GIT_DISCOVERY_ACROSS_FILESYSTEM").is_some(),
        ..gix::discover::upwards::Options::default()
    };
    let trust = Mapping { full: options.clone(), reduced: options };
    gix::ThreadSafeRepository::discover_opts(cwd, how, trust).map(Into::into)
}

/// The settings of every open. Configuration is read as git reads it, so that remotes, `core.hooksPath` and `safe.directory` mean what they mean to git.
///
/// gix reads the process's environment by itself; each class of variables is open to it only where the snapshot has one of them, so that a run with an
/// empty snapshot depends on nothing outside the repository.
fn options(cwd: &Path, env: &Env) -> gix::open::Options {
    let allowed = |yes: bool| if yes { Permission::Allow } else { Permission::Deny };
    let home = env.os("HOME").is_some() || env.os("XDG_CONFIG_HOME").is_some();
    let git = env.iter().any(|(name, value)| name.as_bytes().starts_with(b"GIT_") && !value.is_empty());
    let mut permissions = gix::open::Permissions::isolated();
    permissions.env.home = allowed(home);
    permissions.env.xdg_config_home = allowed(home);
    permissions.env.git_prefix = allowed(git);
    permissions.config.system = env.os("GIT_CONFIG_NOSYSTEM").is_none();
    permissions.config.git = home || git;
    permissions.config.user = home || git;
    permissions.config.env = git;
    permissions.config.includes = true;
    gix::open::Options::default().permissions(permissions).bail_if_untrusted(true).config_overrides(overrides(cwd, env))
}

fn overrides(cwd: &Path, env: &Env) -> Vec<BString> {
    // The last two are gix's own keys, which git does not know: with them a repository's configuration could have us read another index than git's.
    let fixed = ["core.useReplaceRefs=false", "core.commitGraph=false", "core.fsmonitor=false"];
    let own = ["gitoxide.core.indexFile=index", "gitoxide.core.shallowFile=shallow"];
    let mut values: Vec<BString> = fixed.into_iter().chain(own).map(BString::from).collect();
    // What is larger than this is never read as text, so that nobody needs to ask for a size before reading.
    values.push(format!("gitoxide.objects.allocLimit={MAX_TEXT}").into());
    for (variable, key) in [("GIT_INDEX_FILE", "gitoxide.core.indexFile="), ("GIT_WORK_TREE", "core.worktree=")] {
        if let Some(path) = env.path(variable) {
            values.push([key.as_bytes(), cwd.join(path).as_os_str().as_bytes()].concat().into());
        }
    }
    values
}

/// Objects that are only in a quarantine are invisible to us (case P43): a server-side hook would review half of what it was sent.
fn refuse_server_side(env: &Env) -> Result<(), GitError> {
    let found = ["GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY"].into_iter().find(|name| env.os(name).is_some());
    found.map_or(Ok(()), |name| {
        let remedy = "the gate is a client-side hook; on a server check the evidence instead".to_owned();
        Err(GitError::Unsupported { what: format!("a separate object directory ({name})"), remedy })
    })
}

/// Tells how refs are kept, and refuses every format that is not known by name.
fn ref_format(repo: &gix::Repository) -> Result<RefFormat, GitError> {
    let config = repo.config_snapshot();
    let config = config.plumbing();
    let mut format = RefFormat::Files;
    for section in config.sections_by_name("extensions").into_iter().flatten() {
        for name in section.value_names().map(|name| name.to_string().to_ascii_lowercase()) {
            let value = section.value(&name).map(|value| value.to_string().to_ascii_lowercase()).unwrap_or_default();
            match (name.as_str(), value.as_str()) {
                ("refstorage", "files") => format = RefFormat::Files,
                ("refstorage", "reftable") => format = RefFormat::Reftable,
                (known, _) if KNOWN_EXTENSIONS.contains(&known) => {}
                (unknown, value) => {
                    let remedy = "use a clone without it".to_owned();
                    return Err(GitError::Unsupported { what: format!("the extension {unknown} = {value}"), remedy });
                }
            }
        }
    }
    Ok(format)
}

/// A repository of someone else's is told apart by gix's own words; another denied permission is passed on as it is.
fn explain(cwd: &Path, error: gix::Error) -> GitError {
    let text = format!("{error:#}");
    if error.is_permission_denied() && text.contains("not owned by the current user") {
        let what = format!("files that belong to another user ({})", cwd.display());
        let remedy = format!("if it is yours, `git config --global --add safe.directory {}`", cwd.display());
        return GitError::Unsupported { what, remedy };
    }
    if error.is_not_found() {
        return GitError::NotARepository { at: cwd.display().to_string() };
    }
    GitError::other(format!("open the repository at {}", cwd.display()))(error)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{World, files, only};
    use super::super::{Options, Selector};
    use super::*;

    fn staged(cwd: &Path, pairs: &[(&str, &str)]) -> Vec<String> {
        let repo = Repo::discover(cwd, &Env::from_pairs(pairs.iter().copied())).expect("a repository");
        files(only(&repo.select(&Selector::Staged, &Options::default()).expect("the index")))
    }

    #[test]
    fn the_index_that_git_names_is_the_one_that_is_read() {
        let world = World::new();
        let work = world.work();
        std::fs::create_dir(work.join("sub")).expect("a directory");
        std::fs::write(work.join("ok"), "ok\n").expect("a file");
        world.git(&["add", "ok"]);
        std::fs::copy(work.join(".git/index"), work.join(".git/next-index-1.lock")).expect("an index");
        world.git(&["rm", "-q", "--cached", "ok"]);
        assert!(staged(&work, &[]).is_empty());
        let absolute = work.join(".git/next-index-1.lock");
        for (cwd, value) in [
            (work.clone(), ".git/next-index-1.lock"),
            (work.join("sub"), "../.git/next-index-1.lock"),
            (work.clone(), absolute.to_str().expect("UTF-8")),
        ] {
            assert_eq!(staged(&cwd, &[("GIT_INDEX_FILE", value)]), ["ok"], "{value}");
        }
    }

    /// Keys that only gix reads, in the repository's own configuration.
    #[test]
    fn the_repository_cannot_name_another_index_or_other_refs() {
        let world = World::new();
        let work = world.work();
        std::fs::copy(work.join(".git/index"), work.join(".git/elsewhere")).expect("an index");
        std::fs::write(work.join("evil"), "evil\n").expect("a file");
        world.git(&["add", "evil"]);
        for (key, value) in [("indexFile", "elsewhere"), ("refsNamespace", "x"), ("shallowFile", "index")] {
            world.git(&["config", &format!("gitoxide.core.{key}"), value]);
        }
        assert_eq!(staged(&work, &[]), ["evil"]);
        let selected = world.repo().select(&Selector::Push { remote: None }, &Options::default()).expect("a push");
        assert_eq!(only(&selected).refs[0].base.map(|oid| oid.to_string()), Some(world.id("origin/main")));
    }

    /// A hook that notes which index git gave it: what is read is what the commit will hold (case P1).
    #[test]
    fn a_commit_of_paths_is_what_the_hook_sees() {
        use std::os::unix::fs::PermissionsExt as _;
        let world = World::new();
        for name in ["a", "b"] {
            world.commit(name, "one\n");
        }
        let work = world.work();
        let hook = work.join(".git/hooks/pre-commit");
        std::fs::write(&hook, "#!/bin/sh\nprintf %s \"$GIT_INDEX_FILE\" >.git/which\ncp \"$GIT_INDEX_FILE\" .git/copy\n").expect("a hook");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        for (arguments, expected) in [(&["commit", "-q", "-m", "m", "--", "a"][..], vec!["a"]), (&["commit", "-q", "-a", "-m", "m"], vec!["a", "b"])]
        {
            world.git(&["reset", "-q", "--hard", "main"]);
            std::fs::write(work.join("a"), "evil\n").expect("a file");
            std::fs::write(work.join("b"), "fine\n").expect("a file");
            world.git(&["checkout", "-q", "--detach"]);
            world.git(arguments);
            world.git(&["reset", "-q", "--soft", "main"]);
            let which = std::fs::read_to_string(work.join(".git/which")).expect("a name");
            assert!(which.ends_with(".lock"), "{which}");
            assert_eq!(staged(&work, &[("GIT_INDEX_FILE", work.join(".git/copy").to_str().expect("UTF-8"))]), expected, "{arguments:?}");
        }
    }

    #[test]
    fn every_kind_of_repository_is_found() {
        let world = World::new();
        let (work, remote) = (world.work(), world.dir.path().join("remote.git"));
        world.git(&["worktree", "add", "-q", "../linked", "-b", "l"]);
        let linked = world.dir.path().join("linked");
        let git_dir = work.join(".git");
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        type Case<'a> = (&'a Path, Vec<(&'a str, String)>, bool, &'a Path);
        let cases: [Case<'_>; 7] = [
            (&work, vec![], false, &git_dir),
            (&linked, vec![], false, &git_dir),
            (&linked, vec![("GIT_DIR", text(&git_dir.join("worktrees/linked")))], false, &git_dir),
            (Path::new("/"), vec![("GIT_DIR", text(&git_dir))], false, &git_dir),
            (world.dir.path(), vec![("GIT_DIR", "work/.git".to_owned()), ("GIT_WORK_TREE", "linked".to_owned())], false, &git_dir),
            (&remote, vec![("GIT_DIR", ".".to_owned()), ("GIT_IMPLICIT_WORK_TREE", "0".to_owned())], true, &remote),
            (&remote, vec![], true, &remote),
        ];
        for (cwd, pairs, bare, common) in cases {
            let repo = Repo::discover(cwd, &Env::from_pairs(pairs.clone())).unwrap_or_else(|error| panic!("{cwd:?} {pairs:?}: {error}"));
            assert_eq!(repo.is_bare(), bare, "{cwd:?} {pairs:?}");
            let found = repo.common_dir().canonicalize().expect("a directory");
            assert_eq!(found, common.canonicalize().expect("a directory"), "{cwd:?} {pairs:?}");
            assert_eq!(repo.hooks_dir().path.canonicalize().expect("a directory"), found.join("hooks"));
            assert_eq!(repo.head_commit().expect("HEAD").map(|oid| oid.to_string()), Some(world.id("main")));
        }
    }

    #[test]
    fn a_submodule_is_its_own_repository() {
        let world = World::new();
        world.git(&["submodule", "--quiet", "add", "../remote.git", "sm"]);
        let inside = world.work().join("sm");
        let git_dir = world.work().join(".git/modules/sm");
        for pairs in [vec![], vec![("GIT_DIR", git_dir.to_str().expect("UTF-8"))]] {
            let repo = Repo::discover(&inside, &Env::from_pairs(pairs)).expect("a repository");
            assert_eq!(repo.git_dir().canonicalize().expect("a directory"), git_dir.canonicalize().expect("a directory"));
            assert_eq!(repo.work_dir().expect("a worktree").canonicalize().expect("a directory"), inside.canonicalize().expect("a directory"));
        }
    }

    #[test]
    fn the_hooks_directory_is_gits_own_and_its_scope_is_told() {
        let world = World::new();
        let work = world.work();
        world.git(&["config", "core.hooksPath", ".husky/_"]);
        assert_eq!(world.repo().hooks_dir(), HooksDir { path: work.join(".husky/_"), set_in: Some(Scope::Local) });
        world.git(&["config", "core.hooksPath", "/dev/null"]);
        assert_eq!(world.repo().hooks_dir().path, Path::new("/dev/null"));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let empty = tempfile::tempdir().expect("a directory");
        let refusal =
            |cwd: &Path, pairs: &[(&str, &str)]| Repo::discover(cwd, &Env::from_pairs(pairs.iter().copied())).err().expect("a refusal").to_string();
        assert!(refusal(empty.path(), &[]).contains("no git repository"));
        assert!(refusal(empty.path(), &[("GIT_DIR", "nowhere")]).contains("no git repository"));
        let world = World::new();
        assert!(refusal(&world.work(), &[("GIT_QUARANTINE_PATH", "/q")]).contains("client-side"));
        world.git(&["config", "core.repositoryFormatVersion", "1"]);
        world.git(&["config", "extensions.objectFormat", "sha1"]);
        world.repo();
        let config = world.work().join(".git/config");
        let text = std::fs::read_to_string(&config).expect("a file");
        std::fs::write(&config, format!("{text}[extensions]\n\tnewThing = yes\n")).expect("a file");
        assert!(refusal(&world.work(), &[]).contains("newthing = yes"));
        std::fs::write(&config, format!("{text}[extensions]\n\trefStorage = ledger\n")).expect("a file");
        assert!(refusal(&world.work(), &[]).contains("refstorage = ledger"));
        let refs = World::empty(&["--ref-format=reftable"]);
        assert!(refusal(&refs.work(), &[]).contains("none on the PATH"), "an empty environment has no git in it");
    }

    #[test]
    fn the_refs_of_a_reftable_are_read_wherever_they_are_asked_for() {
        let world = World::empty(&["--ref-format=reftable"]);
        let open = |dir: &str| Repo::discover(&world.dir.path().join(dir), &Env::of_process()).expect("a repository");
        assert_eq!(open("work").head_commit().expect("HEAD"), None);
        world.commit("base", "base\n");
        world.git(&["push", "-q", "-u", "origin", "main"]);
        world.git(&["remote", "set-head", "origin", "main"]);
        world.git(&["worktree", "add", "-q", "../linked", "-b", "topic/x"]);
        world.commit("new", "new\n");
        let id = |revision: &str| Oid::from_hex(world.id(revision).as_bytes());
        for (dir, head) in [("work", "main"), ("linked", "topic/x"), ("remote.git", "origin/main")] {
            let repo = open(dir);
            assert_eq!(repo.head_commit().expect("HEAD"), id(head), "{dir}");
            assert!(repo.common_dir().join("objects").is_dir() && repo.hooks_dir().path.is_dir(), "{dir}");
        }
        let selected = open("work").select(&Selector::Push { remote: None }, &Options::default()).expect("a push");
        assert_eq!((files(only(&selected)), selected.remote.as_deref()), (vec!["new".to_owned()], Some("origin")));
        let selected = open("linked").select(&Selector::Range { from: "topic/x".to_owned(), to: "main".to_owned() }, &Options::default());
        assert_eq!(files(only(&selected.expect("a range"))), ["new"]);
        let selected = open("work").select(&Selector::All { base: None }, &Options::default()).expect("the default branch");
        assert_eq!(files(only(&selected)), ["new"]);
        let copy = open("work")._refs.expect("a copy").path().to_owned();
        assert!(!copy.exists(), "the copy outlives the repository");
    }

    #[test]
    fn another_users_repository_is_refused_as_git_refuses_it() {
        let world = World::new();
        let Ok(()) = std::os::unix::fs::chown(world.work().join(".git"), Some(65534), None) else { return };
        let _ = std::os::unix::fs::chown(world.work(), Some(65534), None);
        let error = Repo::discover(&world.work(), &Env::default()).err().expect("a refusal").to_string();
        assert!(error.contains("safe.directory"), "{error}");
    }
}
