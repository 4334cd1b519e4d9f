//! What an installation tells people: what was done, and what to know about the place it was done in.

use super::managers::Manager;
use super::place::{Place, resolved};
use super::shim::Hook;
use super::slot::{Found, Plan, Slot};
use std::path::Path;

/// Says what was done at one slot, and what git will run there.
pub(super) fn describe(slot: &Slot, plan: &Plan) -> Vec<String> {
    let path = slot.path.display();
    let kept = slot.kept_path.display();
    let mut said = vec![match plan {
        Plan::Nothing => format!("{}: already installed at {path}", slot.hook.name()),
        Plan::Write(_) => format!("{}: installed at {path}", slot.hook.name()),
        Plan::MoveAsideAndWrite(_) => format!("{}: installed at {path}; the hook that was there is kept at {kept}", slot.hook.name()),
    }];
    let kept_hook = if matches!(plan, Plan::MoveAsideAndWrite(_)) { &slot.found } else { &slot.kept };
    if let Found::Foreign { executable, .. } = kept_hook {
        said.push(if *executable {
            format!("{kept} runs first, with the same arguments and input; if it refuses, the gate is not asked")
        } else {
            format!(
                "{kept} is not executable: git ignored it, so the gate does not run it either; to have it run, make it executable and install again"
            )
        });
    }
    if slot.beneath_framework {
        said.push(format!(
            "the hook that git runs belongs to pre-commit or prek, which run {path} first, with all of its input; \
             installing them with -f would remove it"
        ));
    }
    if let Some(displaced) = &slot.displaced {
        said.push(format!("another installer had moved our hook to {}, where nothing ran it", displaced.display()));
    }
    said
}

/// Says what may undo the installation later: other managers, a tracked folder, a program that will vanish.
pub(super) fn notes(place: Place<'_>, hooks: &[Hook], gate: &Path) -> Vec<String> {
    let mut said = Vec::new();
    if let Some(work_dir) = place.work_dir {
        said.extend(Manager::of(work_dir).into_iter().flat_map(|manager| hooks.iter().map(move |hook| manager.note(*hook))));
        let in_tree = !resolved(place.hooks_dir).starts_with(resolved(place.common_dir)) && resolved(place.hooks_dir).starts_with(resolved(work_dir));
        if in_tree {
            said.push(format!(
                "{} is part of the working tree: do not commit the hook, it names a path of this machine; where a branch or worktree lacks that \
                 folder, git runs no hook at all",
                place.hooks_dir.display()
            ));
        }
    }
    if ["debug", "release"].iter().any(|profile| gate.parent().is_some_and(|dir| dir.ends_with(Path::new("target").join(profile)))) {
        said.push(format!("{} is a build folder: once it is cleaned, the hook refuses everything until the gate is installed again", gate.display()));
    }
    said
}
