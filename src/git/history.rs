//! The commit graph: which commits are new to the other side, where they meet what it has, and what two commits have in common.
//!
//! Every commit is read by verified id. Grafts and the commit graph have no say; a shallow boundary counts only where the parents are really not here.
//! Dates only order the walk. A wrong date can make a published commit look new, which costs a review, never the other way round.

use super::{GitError, object};
use crate::change::Oid;
use gix::Repository;
use gix::objs::CommitRef;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::rc::Rc;

/// What the walk needs of a commit.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) tree: Oid,
    pub(super) parents: Vec<Oid>,
    time: i64,
}

/// Commits that were read, each once.
pub(super) struct History<'r> {
    repo: &'r Repository,
    nodes: HashMap<Oid, Rc<Node>>,
    shallow: HashSet<Oid>,
}

/// The part of a history that the other side does not have.
#[derive(Debug, Clone, Default)]
pub(super) struct Unpublished {
    /// The new commits, newest first.
    pub(super) commits: Vec<Oid>,
    /// The commits that the other side has and that a new one stands on (or the tip itself where nothing is new), without those that are only
    /// ancestors of others: nearest first.
    pub(super) boundary: Vec<Oid>,
}

impl<'r> History<'r> {
    pub(super) fn new(repo: &'r Repository) -> Result<History<'r>, GitError> {
        let shallow = repo.shallow_commits().map_err(GitError::other("read the shallow boundary"))?;
        let shallow = shallow.map(|list| list.iter().map(|id| object::oid(id)).collect()).unwrap_or_default();
        Ok(History { repo, nodes: HashMap::new(), shallow })
    }

    /// Reads a commit.
    pub(super) fn node(&mut self, oid: Oid) -> Result<Rc<Node>, GitError> {
        if let Some(node) = self.nodes.get(&oid) {
            return Ok(Rc::clone(node));
        }
        let mut node = read(self.repo, oid)?;
        if self.shallow.contains(&oid) {
            node.parents.retain(|parent| self.repo.has_object(object::id(*parent)));
        }
        let node = Rc::new(node);
        self.nodes.insert(oid, Rc::clone(&node));
        Ok(node)
    }

    /// Lists what of `tip` and its ancestors is not among `published` and theirs.
    pub(super) fn unpublished(&mut self, tip: Oid, published: &mut Ancestors) -> Result<Unpublished, GitError> {
        let (commits, boundary) = self.walk(tip, published)?;
        Ok(Unpublished { commits, boundary: self.independent(boundary)? })
    }

    /// Lists the commits of `tip` that `base` has not, and every commit of `base` that one of them was started from or has merged.
    pub(super) fn beyond(&mut self, tip: Oid, base: Oid) -> Result<(Vec<Oid>, Vec<Oid>), GitError> {
        let mut known = Ancestors::of(self, [base])?;
        self.walk(tip, &mut known)
    }

    /// Walks from `tip` to the commits of a set: those on the way, and those where it stopped.
    fn walk(&mut self, tip: Oid, published: &mut Ancestors) -> Result<(Vec<Oid>, Vec<Oid>), GitError> {
        let (mut commits, mut boundary) = (Vec::new(), Vec::new());
        let mut seen = HashSet::from([tip]);
        let mut queue = BinaryHeap::from([(self.node(tip)?.time, tip)]);
        while let Some((_, oid)) = queue.pop() {
            if published.contains(self, oid)? {
                boundary.push(oid);
                continue;
            }
            commits.push(oid);
            for parent in &self.node(oid)?.parents {
                if seen.insert(*parent) {
                    queue.push((self.node(*parent)?.time, *parent));
                }
            }
        }
        Ok((commits, boundary))
    }

    /// Drops the commits that are ancestors of others in the list: a branch that merged `main` fifty times stands on one state of it, not on fifty.
    fn independent(&mut self, commits: Vec<Oid>) -> Result<Vec<Oid>, GitError> {
        let mut parents = Vec::new();
        for commit in &commits {
            parents.extend_from_slice(&self.node(*commit)?.parents);
        }
        let mut older = Ancestors::of(self, parents)?;
        let mut kept = Vec::with_capacity(commits.len());
        for commit in commits {
            if !older.contains(self, commit)? {
                kept.push(commit);
            }
        }
        Ok(kept)
    }

    /// Returns the trees of the best common ancestors of two commits.
    pub(super) fn common_trees(&mut self, one: Oid, two: Oid) -> Result<Vec<Oid>, GitError> {
        let bases = self.merge_bases(one, two)?;
        bases.into_iter().map(|base| Ok(self.node(base)?.tree)).collect()
    }

    /// Lists the best common ancestors of two commits, newest first as git has them: more than one after a criss-cross merge, none for unrelated histories.
    /// If one is an ancestor of the other, it is the only one.
    pub(super) fn merge_bases(&mut self, one: Oid, two: Oid) -> Result<Vec<Oid>, GitError> {
        let found = self.common(one, two)?;
        let mut best = Vec::with_capacity(found.len());
        for base in &found {
            if !self.is_behind_another(*base, &found)? {
                best.push((self.node(*base)?.time, *base));
            }
        }
        best.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        Ok(best.into_iter().map(|(_, base)| base).collect())
    }

    /// Lists the best common ancestors, and where dates are wrong others with them. Two commits have one of themselves in common exactly if it is an
    /// ancestor of the other, whatever the dates.
    fn common(&self, one: Oid, two: Oid) -> Result<Vec<Oid>, GitError> {
        let mut graph = self.repo.revision_graph(None);
        let bases = self.repo.merge_bases_many_with_graph(object::id(one), &[object::id(two)], &mut graph);
        let bases = bases.map_err(GitError::other(format!("find the common ancestor of {} and {}", one.short(), two.short())))?;
        Ok(bases.iter().map(|id| object::oid(id)).collect())
    }

    fn is_behind_another(&self, commit: Oid, all: &[Oid]) -> Result<bool, GitError> {
        for other in all.iter().filter(|other| **other != commit) {
            if self.common(commit, *other)?.contains(&commit) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A set of commits and all their ancestors, walked only as far back as it is asked about.
pub(super) struct Ancestors {
    seen: HashSet<Oid>,
    queue: BinaryHeap<(i64, Oid)>,
}

impl Ancestors {
    /// Starts from the commits themselves.
    pub(super) fn of(history: &mut History<'_>, tips: impl IntoIterator<Item = Oid>) -> Result<Ancestors, GitError> {
        let mut set = Ancestors { seen: HashSet::new(), queue: BinaryHeap::new() };
        tips.into_iter().try_for_each(|tip| set.add(history, tip))?;
        Ok(set)
    }

    /// Tells whether a commit is in the set.
    pub(super) fn contains(&mut self, history: &mut History<'_>, oid: Oid) -> Result<bool, GitError> {
        let time = history.node(oid)?.time;
        while let Some(&(newest, next)) = self.queue.peek().filter(|_| !self.seen.contains(&oid)) {
            if newest < time {
                break;
            }
            self.queue.pop();
            for parent in &history.node(next)?.parents {
                self.add(history, *parent)?;
            }
        }
        Ok(self.seen.contains(&oid))
    }

    fn add(&mut self, history: &mut History<'_>, oid: Oid) -> Result<(), GitError> {
        if self.seen.insert(oid) {
            self.queue.push((history.node(oid)?.time, oid));
        }
        Ok(())
    }
}

fn read(repo: &Repository, oid: Oid) -> Result<Node, GitError> {
    let content = object::commit(repo, oid)?;
    let malformed = || GitError::Malformed { oid, why: "a commit that cannot be read".to_owned() };
    let commit = CommitRef::from_bytes(&content, repo.object_hash()).map_err(|_| malformed())?;
    // A date that cannot be read orders the commit last; git is as lenient.
    let time = commit.time().map_or(0, |time| time.seconds);
    Ok(Node { tree: object::oid(&commit.tree()), parents: commit.parents().map(|id| object::oid(&id)).collect(), time })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::World;
    use super::super::testing::{Random, Sandbox};
    use super::*;

    fn walk(world: &World, tip: &str, published: &[&str]) -> (Vec<String>, Vec<String>) {
        let repo = world.repo();
        let mut history = History::new(&repo.gix).expect("a history");
        let id = |revision: &str| Oid::from_hex(world.id(revision).as_bytes()).expect("an id");
        let mut published = Ancestors::of(&mut history, published.iter().map(|name| id(name))).expect("a set");
        let found = history.unpublished(id(tip), &mut published).expect("a walk");
        let hex = |list: Vec<Oid>| list.iter().map(ToString::to_string).collect();
        (hex(found.commits), hex(found.boundary))
    }

    #[test]
    fn the_new_commits_are_gits_and_the_boundary_has_no_ancestors_of_others() {
        let world = World::new();
        world.git(&["switch", "-q", "-c", "f"]);
        for round in ["1\n", "2\n", "3\n"] {
            world.commit("mine", round);
            world.git(&["switch", "-q", "main"]);
            world.commit("theirs", round);
            world.git(&["switch", "-q", "f"]);
            world.git(&["merge", "-q", "main"]);
        }
        for (tip, published) in [("f", vec!["main"]), ("f", vec!["main~1"]), ("f", vec![]), ("main", vec!["f"]), ("main", vec!["main"])] {
            let mut arguments = vec!["rev-list", tip, "--not"];
            arguments.extend(&published);
            let expected = world.git(&arguments);
            let (commits, boundary) = walk(&world, tip, &published);
            assert_eq!(commits.join("\n"), expected, "{tip} {published:?}");
            let nearest = if tip == "main" { vec!["main"] } else { published.clone() };
            assert_eq!(boundary, nearest.iter().map(|name| world.id(name)).collect::<Vec<_>>(), "{tip} {published:?}");
        }
    }

    /// Makes commits `c0`, `c1`, ... with committer dates in seconds after a round number, and parents by their number.
    fn commits(sandbox: &Sandbox, plan: &[(usize, Vec<usize>)]) -> Vec<Oid> {
        let mut stream = String::new();
        for (at, (date, parents)) in plan.iter().enumerate() {
            stream += &format!("reset refs/heads/c{at}\ncommit refs/heads/c{at}\nmark :{}\n", at + 1);
            stream += &format!("committer n <e@example.org> {} +0000\ndata <<.\n{at}\n.\n", 1_700_000_000 + date);
            let words = ["from"].into_iter().chain(std::iter::repeat("merge"));
            stream.extend(words.zip(parents).map(|(word, parent)| format!("{word} :{}\n", parent + 1)));
            stream += &format!("M 100644 inline f{at}\ndata 1\nx\n\n");
        }
        sandbox.write(".git/stream", stream);
        sandbox.git_from(&sandbox.path(".git/stream"), &["fast-import", "--quiet", "--force"]);
        let ids = sandbox.line(&["for-each-ref", "--sort=v:refname", "--format=%(objectname)"]);
        ids.lines().map(|id| Oid::from_hex(id.as_bytes()).expect("an id")).take(plan.len()).collect()
    }

    fn assert_gits_bases(sandbox: &Sandbox, one: Oid, two: Oid, hint: &str) {
        let ours = History::new(&sandbox.open()).and_then(|mut history| history.merge_bases(one, two)).expect("common ancestors");
        let ours: Vec<String> = ours.iter().map(ToString::to_string).collect();
        let range = [one.to_string(), two.to_string()];
        assert_eq!(ours.join("\n"), sandbox.line(&["merge-base", "--all", &range[0], &range[1]]), "{hint}");
    }

    #[test]
    fn an_ancestor_is_the_only_base_whatever_the_dates() {
        let sandbox = Sandbox::new(&[]);
        let parents = [vec![], vec![0], vec![0, 1], vec![2, 0], vec![3, 1], vec![4, 1]];
        let plan: Vec<_> = [6000, 8000, 6000, 6000, 7000, 5000].into_iter().zip(parents).collect();
        let ids = commits(&sandbox, &plan);
        let repo = sandbox.open();
        assert_eq!(History::new(&repo).and_then(|mut history| history.merge_bases(ids[3], ids[5])).expect("a base"), [ids[3]]);
    }

    #[test]
    fn common_ancestors_are_gits_though_dates_are_wrong() {
        for seed in 0..20 {
            let (sandbox, mut random) = (Sandbox::new(&[]), Random::new(seed));
            let mut plan = vec![(0, Vec::new())];
            for at in 1..12 {
                let mut parents: Vec<usize> = (0..=random.below(3)).map(|_| at - 1 - random.below(at.min(6))).collect();
                parents.dedup();
                // No two alike: between equal dates git goes by the order of its walk.
                plan.push((random.below(9) * 12 + at, parents));
            }
            let ids = commits(&sandbox, &plan);
            for _ in 0..8 {
                let (one, two) = (4 + random.below(8), 4 + random.below(8));
                assert_gits_bases(&sandbox, ids[one], ids[two], &format!("seed {seed}: c{one} c{two} of {plan:?}"));
            }
        }
    }
}
