//! Whether two URLs lead to the same place: one repository is reached by several schemes, with or without a user and `.git`.

use std::path::{Path, PathBuf};

/// Where a URL leads.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// A path on another machine.
    Host { scheme: String, host: String, port: Option<u16>, path: String },
    /// A path on this machine.
    Here(PathBuf),
}

/// Tells whether two URLs lead to the same place. A relative path is below `base`. Ports are compared only where the scheme is the same.
pub(super) fn is_same(base: &Path, a: &str, b: &str) -> bool {
    match (place(base, a), place(base, b)) {
        (Place::Here(a), Place::Here(b)) => a == b,
        (a @ Place::Host { .. }, b @ Place::Host { .. }) => same_host(&a, &b),
        (Place::Here(_), Place::Host { .. }) | (Place::Host { .. }, Place::Here(_)) => false,
    }
}

fn same_host(a: &Place, b: &Place) -> bool {
    let (Place::Host { scheme, host, port, path }, Place::Host { scheme: scheme_b, host: host_b, port: port_b, path: path_b }) = (a, b) else {
        return false;
    };
    (host, path) == (host_b, path_b) && (scheme != scheme_b || port == port_b)
}

fn place(base: &Path, url: &str) -> Place {
    if let Some((scheme, rest)) = url.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        if scheme == "file" {
            return Place::Here(resolved(base, rest));
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        return host(scheme, authority, path);
    }
    match url.split_once(':') {
        Some((authority, path)) if !authority.is_empty() && !authority.contains('/') => host("ssh".to_owned(), authority, path),
        Some(_) | None => Place::Here(resolved(base, url)),
    }
}

fn host(scheme: String, authority: &str, path: &str) -> Place {
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
        Some((host, Ok(port))) => (host, Some(port)),
        Some((_, Err(_))) | None => (authority, None),
    };
    let usual = match scheme.as_str() {
        "https" => 443,
        "http" => 80,
        "git" => 9418,
        _ => 22,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/').to_owned();
    Place::Host { scheme, host: host.to_ascii_lowercase(), port: port.filter(|port| *port != usual), path }
}

/// Resolves a path as git looks for a repository there: with the `.git` that may be left out.
fn resolved(base: &Path, path: &str) -> PathBuf {
    let full = base.join(path);
    let ends = ["", ".git"].into_iter().filter_map(|end| PathBuf::from(format!("{}{end}", full.display())).canonicalize().ok());
    let found = ends.into_iter().next().unwrap_or(full);
    if found.file_name().is_some_and(|name| name == ".git") { found.parent().map(Path::to_owned).unwrap_or(found) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_users_and_ends_make_no_other_place() {
        let same =
            ["https://host/a/b.git", "https://me:x@HOST/a/b", "git@host:a/b.git", "ssh://git@host/a/b", "ssh://git@host:22/a/b/", "git://host/a/b"];
        for (a, b) in same.iter().flat_map(|a| same.iter().map(move |b| (a, b))) {
            assert!(is_same(Path::new("/"), a, b), "{a} {b}");
        }
        for other in ["https://host/a/c", "https://host.example/a/b", "https://host:8443/a/b", "git@host:b", "/a/b", "b"] {
            assert!(!is_same(Path::new("/"), same[0], other), "{other}");
        }
        assert!(is_same(Path::new("/"), "https://host:8443/a/b", "ssh://git@host:2222/a/b"), "each server has its own ports");
    }

    #[test]
    fn paths_are_resolved() {
        let dir = tempfile::tempdir().expect("a directory");
        let work = dir.path().join("work");
        for name in ["work/.git", "r.git", "other.git"] {
            std::fs::create_dir_all(dir.path().join(name)).expect("a directory");
        }
        let absolute = dir.path().join("r.git").display().to_string();
        for url in ["../r.git", "../r", "../r.git/", &absolute, &format!("file://{absolute}")] {
            assert!(is_same(&work, url, &absolute), "{url}");
            assert!(!is_same(&work, url, "../other.git"), "{url}");
        }
        assert!(is_same(&work, ".git", "."));
    }
}
