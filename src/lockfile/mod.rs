//! Lock files: a summary of what differs stands for lines that nobody can read. Pure; one format a file.
//!
//! Tight: there is a summary only where both sides are read to the end as what their name says, and nothing in them was left over: no unknown key, no comment
//! that the tool does not write, no key that stands twice. Else the file is reviewed as the text it is. Every difference in what the file says is in the
//! summary; only what comes with a new package and can do nothing (ranges, licences, descriptions) is left out of its line, and must be plain.
//! Leaves to others: which path is a lock file (`paths`), and what follows from an alarm (the command).

mod block;
mod cargo;
mod composer;
mod difference;
mod flake;
mod gemfile;
mod go;
mod json;
mod npm;
mod package;
mod pnpm;
mod python;
#[cfg(test)]
mod tests;
mod toml;
mod value;
mod yarn;

pub use difference::{Alarm, Kind};
pub use value::Odd;

use crate::change::BytePath;
use package::Lock;

/// The largest side that is read, in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// What stands for a lock file's lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What is shown: a head line, then one line for each difference.
    pub text: String,
    /// What the gate itself finds alarming.
    pub alarms: Vec<Alarm>,
}

/// A format that can be read.
struct Format {
    /// File names, in lower case.
    names: &'static [&'static str],
    read: fn(&str) -> Result<Lock, Odd>,
    /// Hosts that everybody fetches from: they are no news.
    usual: &'static [&'static str],
}

const NPM: &[&str] = &["registry.npmjs.org", "registry.yarnpkg.com"];
const PYTHON: &[&str] = &["pypi.org", "files.pythonhosted.org"];

const FORMATS: [Format; 12] = [
    Format { names: &["cargo.lock"], read: cargo::read, usual: &["crates.io"] },
    Format { names: &["package-lock.json", "npm-shrinkwrap.json"], read: npm::read, usual: NPM },
    Format { names: &["yarn.lock"], read: yarn::read, usual: NPM },
    Format { names: &["pnpm-lock.yaml"], read: pnpm::read, usual: NPM },
    Format { names: &["poetry.lock"], read: python::poetry, usual: PYTHON },
    Format { names: &["uv.lock"], read: python::uv, usual: PYTHON },
    Format { names: &["pipfile.lock"], read: python::pipfile, usual: PYTHON },
    Format { names: &["gemfile.lock", "gems.locked"], read: gemfile::read, usual: &["rubygems.org"] },
    Format { names: &["composer.lock"], read: composer::read, usual: &["api.github.com", "github.com", "packagist.org"] },
    Format { names: &["go.sum"], read: go::read, usual: go::USUAL },
    Format { names: &["go.work.sum"], read: go::read, usual: go::USUAL },
    Format { names: &["flake.lock"], read: flake::read, usual: &["github.com"] },
];

/// Sums up the difference between two sides of a lock file; `None` where its name is of no format that can be read.
///
/// # Errors
/// [`Odd`] where a side is not, in full, what its name says.
pub fn summary(path: &BytePath, old: Option<&[u8]>, new: Option<&[u8]>) -> Option<Result<Summary, Odd>> {
    let name = String::from_utf8_lossy(path.file_name()).to_lowercase();
    let format = FORMATS.iter().find(|format| format.names.contains(&name.as_str()))?;
    Some(sum_up(path, format, old, new))
}

fn sum_up(path: &BytePath, format: &Format, old: Option<&[u8]>, new: Option<&[u8]>) -> Result<Summary, Odd> {
    let read = |side: Option<&[u8]>, which: &str| {
        side.map_or_else(|| Ok(Lock::default()), |bytes| whole(bytes, format).map_err(|odd| Odd::new(format!("{which}, {odd}"))))
    };
    let (before, after) = (read(old, "as it was")?, read(new, "as it is now")?);
    let found = difference::between(&before, &after, format.usual);
    let count = |side: Option<&[u8]>, lock: &Lock| side.map_or("no file".to_owned(), |_| format!("{} entries", lock.packages.len()));
    let hosts: Vec<String> = after.all_hosts().into_iter().collect();
    let mut text = format!(
        "lock file summary of {}: {} before, {} now; {} added (+), {} removed (-), {} changed (~); its lines are not shown, and this is all that differs\nhosts now: {}\n",
        difference::one_line(&path.to_string()),
        count(old, &before),
        count(new, &after),
        found.added,
        found.removed,
        found.changed,
        if hosts.is_empty() { "none named".to_owned() } else { difference::one_line(&hosts.join(", ")) },
    );
    found.lines.iter().for_each(|line| text += &format!("{line}\n"));
    if found.lines.is_empty() {
        text += "nothing differs but order, white space or line ends\n";
    }
    Ok(Summary { text, alarms: found.alarms.into_iter().collect() })
}

fn whole(bytes: &[u8], format: &Format) -> Result<Lock, Odd> {
    if bytes.len() > MAX_BYTES {
        return Err(Odd::new(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Odd::new("it is not UTF-8"))?;
    (format.read)(text)?.sorted()
}
