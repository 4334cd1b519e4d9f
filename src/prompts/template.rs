//! Texts with named holes, `{{name}}`, filled strictly: a hole without a value or a value without a hole is an error, and values are never read for holes.

/// Why a text could not be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum HoleError {
    /// The text names a hole that has no value.
    #[error("the hole {{{{{0}}}}} has no value")]
    Unknown(String),
    /// A value was given for a hole that the text does not have.
    #[error("the text has no hole {{{{{0}}}}}")]
    Unused(String),
    /// A hole is opened and not closed.
    #[error("a hole is not closed before {0:?}")]
    Open(String),
}

/// Fills the holes of a text. The final newline of the text is left out, so that texts nest.
pub(super) fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, HoleError> {
    let mut out = String::with_capacity(text.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>());
    let mut used = vec![false; values.len()];
    let mut rest = text.trim_end_matches('\n');
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").ok_or_else(|| HoleError::Open(after.chars().take(40).collect()))?;
        let at = values.iter().position(|(known, _)| *known == name).ok_or_else(|| HoleError::Unknown(name.to_owned()))?;
        out.push_str(before);
        out.push_str(values[at].1);
        used[at] = true;
        rest = after;
    }
    if let Some(at) = used.iter().position(|used| !used) {
        return Err(HoleError::Unused(values[at].0.to_owned()));
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_once_and_strictly() {
        for (text, values, expected) in [
            ("a {{x}} b {{y}} {{x}}\n", &[("x", "1"), ("y", "{{x}}")][..], Ok("a 1 b {{x}} 1".to_owned())),
            ("plain", &[], Ok("plain".to_owned())),
            ("{{x}}", &[], Err(HoleError::Unknown("x".to_owned()))),
            ("{{ x }}", &[("x", "1")], Err(HoleError::Unknown(" x ".to_owned()))),
            ("plain", &[("x", "1")], Err(HoleError::Unused("x".to_owned()))),
            ("a {{x b", &[("x", "1")], Err(HoleError::Open("x b".to_owned()))),
        ] {
            assert_eq!(fill(text, values), expected, "{text}");
        }
        assert_eq!(HoleError::Unknown("x".to_owned()).to_string(), "the hole {{x}} has no value");
    }
}
