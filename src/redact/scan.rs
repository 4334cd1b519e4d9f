//! Finds what looks like a secret in a text. Says where and by which rule; what follows is the caller's.

use super::keyblock;
use super::rules::Rule;
use super::samples::is_sample;
use crate::digest::Digest;
use std::collections::BTreeMap;
use std::ops::Range;

/// One place that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// The rule, by its name.
    pub(super) rule: &'static str,
    /// Where the secret is: one place, or the armour and the body words of a key. At least one.
    pub(super) spans: Vec<Range<usize>>,
    /// SHA-256 of the value. A key has the same one however it is wrapped, indented and quoted.
    pub(super) digest: Digest,
    /// The shape leaves no doubt: refuses in added text. Else it is masked.
    pub(super) certain: bool,
    /// The 1-based line that the secret starts in.
    pub(super) line: u32,
}

/// Finds secrets, in order and without overlap: where two rules match, private keys first, then the earlier row of the table.
pub(super) fn scan(text: &[u8]) -> Vec<Hit> {
    let mut found = Found::default();
    for key in keyblock::find(text) {
        found.add(Hit { rule: keyblock::PRIVATE_KEY, spans: key.spans, digest: Digest::of(&key.value), certain: true, line: 0 });
    }
    for rule in Rule::candidates(text) {
        for groups in rule.regex().captures_iter(text) {
            let secret = groups.get(1).or(groups.get(0)).expect("group 0 is the match");
            if !is_sample(secret.as_bytes(), rule.proof) {
                let (spans, digest) = (vec![secret.range()], Digest::of(secret.as_bytes()));
                found.add(Hit { rule: rule.name, spans, digest, certain: rule.certain, line: 0 });
            }
        }
    }
    number_lines(text, found.hits)
}

/// Hits without overlap.
#[derive(Default)]
struct Found {
    hits: Vec<Hit>,
    /// The ends of all taken places, by their starts.
    taken: BTreeMap<usize, usize>,
}

impl Found {
    /// Adds a hit unless its place is taken.
    fn add(&mut self, hit: Hit) {
        let free = |span: &Range<usize>| self.taken.range(..span.end).next_back().is_none_or(|(_, end)| *end <= span.start);
        if hit.spans.iter().all(free) {
            self.taken.extend(hit.spans.iter().map(|span| (span.start, span.end)));
            self.hits.push(hit);
        }
    }
}

/// Sorts hits by where they start and numbers their lines.
pub(super) fn number_lines(text: &[u8], mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| hit.spans[0].start);
    let (mut line, mut done) = (1, 0);
    for hit in &mut hits {
        let start = hit.spans[0].start;
        line += text[done..start].iter().filter(|byte| **byte == b'\n').count() as u32;
        done = start;
        hit.line = line;
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits and letters in an order that no rule takes for a placeholder, cut to a length.
    fn random(alphabet: &str, length: usize) -> String {
        let letters: Vec<char> = alphabet.chars().collect();
        (0..length)
            .scan(7_usize, |state, _| {
                *state = (*state * 1_103_515_245 + 12_345) % 2_147_483_648;
                Some(letters[*state / 65_536 % letters.len()])
            })
            .collect()
    }

    const MIXED: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const HEX: &str = "0123456789abcdef";
    const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

    /// The samples are put together here, so that no scanner takes this file for a leak.
    fn positives() -> Vec<(&'static str, String)> {
        let mixed = |length| random(MIXED, length);
        let hex = |length| random(HEX, length);
        vec![
            ("aws-access-key", format!("AK{}{}", "IA", random(UPPER, 16))),
            ("aws-secret-key", format!("aws_secret_access_{} = \"{}\"", "key", mixed(40))),
            ("google-api-key", format!("AI{}{}", "za", mixed(35))),
            ("google-oauth-secret", format!("GOC{}{}", "SPX-", mixed(28))),
            ("google-oauth-token", format!("ya{}{}", "29.", mixed(80))),
            ("azure-storage-key", format!("Account{}{}==", "Key=", mixed(86))),
            ("azure-client-secret", format!("{}8{}{}", mixed(3), "Q~", mixed(34))),
            ("digitalocean-token", format!("dop{}{}", "_v1_", hex(64))),
            ("databricks-token", format!("da{}{}", "pi", hex(32))),
            ("vault-token", format!("hv{}{}", "s.", mixed(95))),
            ("terraform-cloud-token", format!("{}.atlas{}{}", mixed(14), "v1.", mixed(64))),
            ("heroku-key", format!("HR{}{}", "KU-AA", mixed(58))),
            ("age-secret-key", format!("AGE-SECRET-{}{}", "KEY-1", random("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
            ("github-token", format!("gh{}{}", "p_", mixed(36))),
            ("github-token", format!("gh{}{}", "o_", mixed(36))),
            ("github-fine-grained-token", format!("github_{}{}_{}", "pat_", mixed(22), mixed(59))),
            ("gitlab-token", format!("gl{}{}", "pat-", mixed(20))),
            ("bitbucket-token", format!("AT{}{}", "BB", mixed(32))),
            ("atlassian-token", format!("ATA{}{}", "TT3", mixed(180))),
            ("npm-token", format!("np{}{}", "m_", mixed(36))),
            ("pypi-token", format!("py{}{}", "pi-AgEIcHlwaS5vcmc", mixed(80))),
            ("crates-token", format!("ci{}{}", "o", mixed(32))),
            ("rubygems-key", format!("ruby{}{}", "gems_", hex(48))),
            ("docker-token", format!("dckr{}{}", "_pat_", mixed(27))),
            ("slack-token", format!("xo{}123456789012-1234567890123-{}", "xb-", mixed(24))),
            ("slack-app-token", format!("xa{}1-A{}-{}-{}", "pp-", random(UPPER, 10), "1234567890123", hex(64))),
            ("slack-webhook", format!("https://hooks.slack{}/services/T{}/B{}/{}", ".com", random(UPPER, 8), random(UPPER, 10), mixed(24))),
            ("discord-webhook", format!("https://discord{}/api/webhooks/123456789012345678/{}", ".com", mixed(68))),
            ("telegram-token", format!("123456789:{}{}", "AA", mixed(33))),
            ("stripe-live-key", format!("sk{}{}", "_live_", mixed(24))),
            ("stripe-live-key", format!("rk{}{}", "_live_", mixed(24))),
            ("square-token", format!("sq0{}{}", "atp-", mixed(22))),
            ("square-access-token", format!("EA{}{}", "AA", mixed(60))),
            ("shopify-token", format!("shp{}{}", "at_", hex(32))),
            ("sendgrid-key", format!("S{}{}.{}", "G.", mixed(22), mixed(43))),
            ("mailgun-key", format!("ke{}{}", "y-", hex(32))),
            ("twilio-key", format!("S{}{}", "K", hex(32))),
            ("anthropic-key", format!("sk-{}api03-{}", "ant-", mixed(95))),
            ("openai-key", format!("sk-{}{}{}", mixed(20), "T3BlbkFJ", mixed(20))),
            ("openai-key", format!("sk-{}{}{}{}", "proj-", mixed(60), "T3BlbkFJ", mixed(60))),
            ("openai-project-key", format!("sk-{}{}", "proj-", mixed(48))),
            ("openrouter-key", format!("sk-{}v1-{}", "or-", hex(64))),
            ("model-vendor-hex-key", format!("s{}{}", "k-", hex(32))),
            ("model-vendor-key", format!("s{}{}", "k-", mixed(48))),
            ("huggingface-token", format!("h{}{}", "f_", mixed(34))),
            ("groq-key", format!("gs{}{}", "k_", mixed(52))),
            ("xai-key", format!("xa{}{}", "i-", mixed(80))),
            ("nvidia-key", format!("nv{}{}", "api-", mixed(64))),
            ("perplexity-key", format!("pp{}{}", "lx-", mixed(48))),
            ("replicate-token", format!("r{}{}", "8_", mixed(37))),
            ("grafana-token", format!("gl{}{}_{}", "sa_", mixed(32), hex(8))),
            ("linear-key", format!("lin{}{}", "_api_", mixed(40))),
            ("stripe-test-key", format!("sk{}{}", "_test_", mixed(24))),
            ("stripe-webhook-secret", format!("wh{}{}", "sec_", mixed(32))),
            ("jwt", format!("ey{}{}.ey{}{}.{}", "J", mixed(30), "J", mixed(30), mixed(43))),
            ("url-password", format!("postgres://app:{}{}@db.internal/x", "h8!k", "qp2")),
        ]
    }

    #[test]
    fn every_rule_finds_its_shape_in_any_surroundings() {
        let samples = positives();
        for rule in &super::super::rules::RULES {
            assert!(samples.iter().any(|(name, _)| *name == rule.name), "{}: no sample", rule.name);
        }
        for (name, sample) in samples {
            for text in
                [sample.clone(), format!("x = \"{sample}\",\n"), format!("+KEY={sample}\r\n"), format!("é\n{sample}\n"), format!("<{sample}>")]
            {
                let rules: Vec<_> = scan(text.as_bytes()).into_iter().map(|hit| hit.rule).collect();
                assert_eq!(rules, [name], "{name}: {text}");
            }
        }
    }

    #[test]
    fn honest_text_has_no_hit() {
        let oid = random(HEX, 40);
        for text in [
            format!("AKIA{}", "IOSFODNN7EXAMPLE"),
            format!("aws_secret_access_key = {}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
            format!("commit {oid}"),
            format!("integrity sha512-{}==", random(MIXED, 86)),
            "550e8400-e29b-41d4-a716-446655440000".to_owned(),
            format!("task-{}", random(HEX, 32)),
            format!("data:image/png;base64,{}", random(MIXED, 400)),
            format!("ghp_{}", "x".repeat(36)),
            "sk-1234567890abcdef1234567890abcdef".to_owned(),
            "OPENAI_API_KEY=sk-your-key-here".to_owned(),
            "postgres://postgres:postgres@localhost/db postgres://u:${PW}@h/db https://user:<password>@host".to_owned(),
            "https://host:8080/a@b mailto:x@y.z ssh://git@host:22/x.git".to_owned(),
            format!("checksum = \"{}\"", random(HEX, 64)),
        ] {
            assert_eq!(scan(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn a_hit_says_where_and_how_sure() {
        let token = format!("gh{}{}", "p_", random(MIXED, 36));
        let text = format!("a\nb {token}\n\npostgres://app:{}@db/x", "h8!kqp2");
        let hits = scan(text.as_bytes());
        assert_eq!(
            hits.iter().map(|hit| (hit.rule, hit.line, hit.certain)).collect::<Vec<_>>(),
            [("github-token", 2, true), ("url-password", 4, false)]
        );
        assert_eq!(&text[hits[0].spans[0].clone()], token);
        assert_eq!(&text[hits[1].spans[0].clone()], "h8!kqp2");
    }

    #[test]
    fn what_honest_text_often_holds_does_not_refuse() {
        for (text, hits) in [
            (format!("cache-sk-{}", random(HEX, 32)), 1),
            (format!("id=SK{}", random(HEX, 32)), 1),
            (format!("\"EA{}{}\"", "AA", random(MIXED, 60)), 1),
            (format!("x/EA{}{}", "AA", random(MIXED, 60)), 0),
            (format!("EA{}{}+{}", "AA", random(MIXED, 60), random(MIXED, 11)), 0),
        ] {
            let found = scan(text.as_bytes());
            assert_eq!((found.len(), found.iter().any(|hit| hit.certain)), (hits, false), "{text}");
        }
    }

    #[test]
    fn many_hits_take_no_quadratic_time() {
        let one = format!("gh{}{} ", "p_", random(MIXED, 36));
        assert_eq!(scan(one.repeat(20_000).as_bytes()).len(), 20_000);
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hide_a_secret() {
        let mut bytes = b"\xff\xfe\0\n".to_vec();
        bytes.extend(format!("gh{}{}", "p_", random(MIXED, 36)).bytes());
        bytes.push(0xff);
        assert_eq!(scan(&bytes).len(), 1);
    }
}
