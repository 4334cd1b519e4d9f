//! A path cut into lower-case words, so that word rules are globs like all others.

/// Returns the words of a path as a path of its own: `src/JWTToken_v2.ts` becomes `src/jwt/token/v/2/ts/.`.
///
/// Cuts at every byte that is not an ASCII letter or digit, between lower and upper case, before the last capital of an acronym that goes on in lower
/// case, and between letters and digits (requirement T06). The closing `/.` lets `**/word/**` match the last word too.
pub(super) fn path_of_words(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + path.len() / 4 + 2);
    for (at, byte) in path.iter().enumerate() {
        let word = byte.is_ascii_alphanumeric();
        let open = out.last().is_some_and(|last| *last != b'/');
        if open && (!word || starts_word(path, at)) {
            out.push(b'/');
        }
        if word {
            out.push(byte.to_ascii_lowercase());
        }
    }
    if out.last().is_some_and(|last| *last != b'/') {
        out.push(b'/');
    }
    out.push(b'.');
    out
}

fn starts_word(path: &[u8], at: usize) -> bool {
    let (Some(before), here) = (at.checked_sub(1).map(|i| path[i]), path[at]) else { return true };
    let next = path.get(at + 1).copied().unwrap_or(b'.');
    if before.is_ascii_digit() != here.is_ascii_digit() {
        return true;
    }
    if !here.is_ascii_uppercase() {
        return false;
    }
    before.is_ascii_lowercase() || (before.is_ascii_uppercase() && next.is_ascii_lowercase() && !is_plural(path, at))
}

/// Tells whether the capital at `at` ends an acronym whose plural is written with a small s, as in `JWTs.ts`.
fn is_plural(path: &[u8], at: usize) -> bool {
    path.get(at + 1) == Some(&b's') && !path.get(at + 2).is_some_and(u8::is_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boundary_cuts() {
        for (path, words) in [
            ("", "."),
            ("lib/auth_handler.rs", "lib/auth/handler/rs/."),
            ("useSession", "use/session/."),
            ("JWTToken.ts", "jwt/token/ts/."),
            ("JWTs.ts", "jwts/ts/."),
            ("JWTsomething", "jw/tsomething/."),
            ("APIsAndJWTs", "apis/and/jwts/."),
            ("OAuth2Client", "o/auth/2/client/."),
            ("oauth2", "oauth/2/."),
            ("k8s-prod", "k/8/s/prod/."),
            ("row level", "row/level/."),
            ("..//x", "x/."),
            ("naïve", "na/ve/."),
            ("PASSWORD_HASH", "password/hash/."),
        ] {
            assert_eq!(String::from_utf8_lossy(&path_of_words(path.as_bytes())), words, "{path}");
        }
    }
}
