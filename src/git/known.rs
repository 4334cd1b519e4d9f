//! What counts as published: what the remotes have by the word of tracking refs and of the server, and beside it what the upstream of a fork has.

use super::history::{Ancestors, History};
use super::remotes::{self, Remotes};
use super::{GitError, Repo, revision, upstream};
use crate::change::Oid;

/// The commits that count as published for a push to some remotes.
pub(super) struct Known {
    /// All of them.
    pub(super) published: Ancestors,
    /// The upstream among them, until it was told.
    fork: Option<Fork>,
    /// Says whose word was taken, where it is not the remotes' own.
    pub(super) note: Option<String>,
}

struct Fork {
    branch: String,
    /// What the remotes have without it.
    own: Ancestors,
}

impl Known {
    /// Finds them; `advertised` is what the server, or whoever asks, says that the remotes have besides.
    pub(super) fn of(
        repo: &Repo,
        remotes: &Remotes,
        history: &mut History<'_>,
        advertised: impl IntoIterator<Item = Oid>,
    ) -> Result<Known, GitError> {
        let mut here = Vec::new();
        for old in advertised {
            here.extend(revision::commit_if_here(&repo.gix, old)?);
        }
        let remotes::Published { tips, note } = remotes::published(repo, remotes, here)?;
        let mut published = Ancestors::of(history, tips.iter().copied())?;
        let mut fork = None;
        if let Some(upstream) = upstream::of(repo, remotes, history, &mut published)? {
            let all = Ancestors::of(history, tips.into_iter().chain(upstream.tips))?;
            fork = Some(Fork { branch: upstream.branch, own: std::mem::replace(&mut published, all) });
        }
        Ok(Known { published, fork, note })
    }

    /// Names the upstream's branch, once, where one of the commits is there and not at the remotes.
    pub(super) fn upstream_of(&mut self, history: &mut History<'_>, commits: &[Oid]) -> Result<Option<String>, GitError> {
        let Some(mut fork) = self.fork.take() else { return Ok(None) };
        for commit in commits {
            if !fork.own.contains(history, *commit)? {
                return Ok(Some(fork.branch));
            }
        }
        self.fork = Some(fork);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::push::PushLine;
    use super::super::range::Selected;
    use super::super::testing::{Random, Sandbox};
    use super::super::{Options, Repo};
    use crate::change::subject::Subject;
    use crate::change::{BytePath, Oid};
    use crate::env::Env;

    /// What a commit of a made-up history holds: a word for each of four files.
    type State = [usize; 4];

    /// A history made at random, merges included. A file of a commit is as one of its parents has it, or new; so some merges are evil and some lose work.
    struct Made {
        parents: Vec<Vec<usize>>,
        states: Vec<State>,
        ids: Vec<Oid>,
    }

    impl Made {
        fn new(sandbox: &Sandbox, random: &mut Random) -> Made {
            let (mut parents, mut states, mut stream): (Vec<Vec<usize>>, Vec<State>, String) = (vec![vec![]], vec![[0; 4]], String::new());
            for at in 1..14 {
                let mut of: Vec<usize> = (0..=random.below(5) / 2).map(|_| at - 1 - random.below(at.min(5))).collect();
                of.sort_unstable();
                of.dedup();
                let file = |n: usize, random: &mut Random| match random.below(5) {
                    0 => 1 + random.below(30),
                    _ => states[of[random.below(of.len())]][n],
                };
                let state = [0, 1, 2, 3].map(|n| file(n, random));
                parents.push(of);
                states.push(state);
            }
            for (at, (of, state)) in parents.iter().zip(&states).enumerate() {
                stream += &format!("reset refs/heads/c{at}\ncommit refs/heads/c{at}\nmark :{}\n", at + 1);
                stream += &format!("committer n <e@example.org> {} +0000\ndata <<.\n{at}\n.\n", 1_700_000_000 + 60 * at);
                let words = ["from"].into_iter().chain(std::iter::repeat("merge"));
                stream.extend(words.zip(of).map(|(word, parent)| format!("{word} :{}\n", parent + 1)));
                stream += "deleteall\n";
                stream.extend(state.iter().enumerate().map(|(n, word)| format!("M 100644 inline f{n}\ndata <<.\n{word}\n.\n")));
                stream += "\n";
            }
            sandbox.write(".git/stream", stream);
            sandbox.git_from(&sandbox.path(".git/stream"), &["fast-import", "--quiet", "--force"]);
            let ids = sandbox.line(&["for-each-ref", "--sort=v:refname", "--format=%(objectname)", "refs/heads"]);
            Made { parents, states, ids: ids.lines().map(|id| Oid::from_hex(id.as_bytes()).expect("an id")).collect() }
        }

        /// Lets some commits be published, and returns these with their ancestors.
        fn publish(&self, sandbox: &Sandbox, random: &mut Random) -> Vec<usize> {
            let (mut known, mut refs) = (Vec::new(), String::from("# pack-refs with: peeled fully-peeled sorted \n"));
            let mut tips: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(13)).collect();
            tips.sort_unstable();
            tips.dedup();
            for (n, at) in tips.into_iter().enumerate() {
                self.reach(at, &mut known);
                refs += &format!("{} refs/remotes/origin/r{n}\n", self.ids[at]);
            }
            sandbox.write(".git/packed-refs", refs);
            known
        }

        /// Holds a subject to what is known of its history; counts the files that are reviewed, and those that are set aside.
        fn judge(&self, subject: &Subject, tip: usize, known: &[usize], hint: &str) -> [usize; 2] {
            let update = &subject.refs[0];
            let base = update.base.and_then(|base| self.ids.iter().position(|id| *id == base)).expect("all histories share their root");
            let mut ancestors = Vec::new();
            self.reach(tip, &mut ancestors);
            let hint = format!("{hint} from c{base}, published {known:?}: {:?} {:?}", self.parents, self.states);
            let mut counts = [0, 0];
            for n in 0..4 {
                let path = BytePath::from(format!("f{n}").as_str());
                let seen = subject.change.files.iter().any(|file| *file.path() == path);
                let aside = subject.change.already_published.contains(&path);
                let (was, is) = (self.states[base][n], self.states[tip][n]);
                assert!(was == is || seen || aside, "f{n} is passed over; {hint}");
                // What is set aside is on the remote under this path, in what the tip stands on or in the old state of a ref that is forced.
                let there = |at: &usize| (update.force || ancestors.contains(at)) && self.states[*at][n] == is;
                assert!(!aside || known.iter().any(there), "f{n} is no published work; {hint}");
                assert!(!(aside && seen), "f{n} is in both lists; {hint}");
                counts = [counts[0] + usize::from(seen), counts[1] + usize::from(aside)];
            }
            counts
        }

        /// A commit and all its ancestors.
        fn reach(&self, from: usize, into: &mut Vec<usize>) {
            if !into.contains(&from) {
                into.push(from);
                self.parents[from].iter().for_each(|parent| self.reach(*parent, into));
            }
        }
    }

    fn push(sandbox: &Sandbox, tip: Oid, old: Oid) -> Selected {
        let name = BytePath::from("refs/heads/x");
        let line = PushLine { local_ref: name.clone(), local_oid: tip, remote_ref: name, remote_oid: old };
        let repo = Repo::discover(&sandbox.path(""), &Env::default()).expect("a repository");
        repo.pushed(&[line], "origin", "u", &Options::default()).expect("a push")
    }

    #[test]
    fn in_any_history_each_difference_is_reviewed_or_published_and_nothing_new_is_published() {
        let (mut reviewed, mut set_aside) = (0, 0);
        for seed in 0..15 {
            let (sandbox, mut random) = (Sandbox::new(&[]), Random::new(seed));
            sandbox.write(".git/config", "[core]\n\trepositoryformatversion = 0\n[remote \"origin\"]\n\turl = u\n");
            let made = Made::new(&sandbox, &mut random);
            for _ in 0..4 {
                let known = made.publish(&sandbox, &mut random);
                for tip in 8..14 {
                    let old = known[random.below(known.len())];
                    let selected = push(&sandbox, made.ids[tip], made.ids[old]);
                    let [seen, aside] = made.judge(&selected.subjects[0], tip, &known, &format!("seed {seed}, c{old}..c{tip}"));
                    (reviewed, set_aside) = (reviewed + seen, set_aside + aside);
                }
            }
        }
        assert!(reviewed > 300 && set_aside > 80, "too little was tried: {reviewed} reviewed, {set_aside} set aside");
    }
}
