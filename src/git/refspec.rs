//! The parts of a ref specification, and which remote ref a tracking ref was fetched from.

/// Splits a specification into its source and its target.
pub(super) fn ends(spec: &str) -> (&str, Option<&str>) {
    let spec = spec.strip_prefix('+').unwrap_or(spec);
    spec.split_once(':').map_or((spec, None), |(source, target)| (source, Some(target)))
}

/// Returns what the `*` of a pattern stands for in a name.
pub(super) fn captured<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let (before, after) = pattern.split_once('*')?;
    name.strip_prefix(before)?.strip_suffix(after)
}

/// Tells whether every specification that may have written a tracking ref took it from a branch. What else a server keeps (the heads of pull requests, changes
/// under review) anybody may write there. A ref that no specification explains is taken for a branch's.
pub(super) fn is_of_branch<'s>(mut specs: impl Iterator<Item = &'s str>, tracking: &str) -> bool {
    specs.all(|spec| source_of(spec, tracking).is_none_or(|source| is_branch(&source)))
}

/// Maps a tracking ref back through a fetch specification; `None` where it cannot have come from there.
fn source_of(spec: &str, tracking: &str) -> Option<String> {
    let (source, target) = ends(spec);
    let target = full_target(target?);
    if target.contains('*') {
        return captured(&target, tracking).map(|middle| source.replacen('*', middle, 1));
    }
    (target == tracking).then(|| source.to_owned())
}

/// Spells out a target as git does for one without `refs/`.
fn full_target(target: &str) -> String {
    match target.split('/').next() {
        Some("refs") => target.to_owned(),
        Some("heads" | "tags" | "remotes") => format!("refs/{target}"),
        Some(_) | None => format!("refs/heads/{target}"),
    }
}

/// A short name may be a branch's; one with a slash may be anything below `refs/` (`pull/1/head`), and an id names no ref.
fn is_branch(source: &str) -> bool {
    let is_id = source.len() >= 40 && source.bytes().all(|byte| byte.is_ascii_hexdigit());
    source.starts_with("refs/heads/") || source.starts_with("heads/") || !(source.contains('/') || is_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tracking_ref_is_a_branchs_unless_a_specification_says_otherwise() {
        let default = "+refs/heads/*:refs/remotes/origin/*";
        let requests = "+refs/pull/*/head:refs/remotes/origin/pr/*";
        let cases: [(&[&str], &str, bool); 12] = [
            (&[default], "refs/remotes/origin/main", true),
            (&[default], "refs/remotes/origin/HEAD", true),
            (&[], "refs/remotes/origin/main", true),
            (&[default, requests], "refs/remotes/origin/main", true),
            (&[default, requests], "refs/remotes/origin/pr/1", false),
            (&[requests, default], "refs/remotes/origin/pr/1", false),
            (&["+refs/changes/*:refs/remotes/origin/changes/*"], "refs/remotes/origin/changes/01/1/2", false),
            (&["refs/pull/7/head:remotes/origin/seven"], "refs/remotes/origin/seven", false),
            (&["pull/7/head:refs/remotes/origin/seven"], "refs/remotes/origin/seven", false),
            (&["main:refs/remotes/origin/main", "HEAD:refs/remotes/origin/HEAD"], "refs/remotes/origin/main", true),
            (&["+refs/*:refs/remotes/origin/*"], "refs/remotes/origin/heads/main", true),
            (&[default, "^refs/heads/mine", "refs/heads/x"], "refs/remotes/origin/x", true),
        ];
        for (specs, tracking, expected) in cases {
            assert_eq!(is_of_branch(specs.iter().copied(), tracking), expected, "{specs:?} {tracking}");
        }
    }
}
