//! What a secret looks like: one row a rule. Shapes are those that the vendors document.
//!
//! `certain` rules refuse in added text; the others only mask. Group 1 of a pattern, where there is one, is the secret itself.

use super::samples::Proof;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};
use std::sync::OnceLock;

/// One row of the table.
pub(super) struct Rule {
    /// The name in masks and messages.
    pub(super) name: &'static str,
    /// A text that every match holds (any of several, separated by spaces): rules whose needle is absent are never compiled.
    needles: &'static str,
    pattern: &'static str,
    /// Refuses in added text.
    pub(super) certain: bool,
    /// How random a match must look.
    pub(super) proof: Proof,
}

const fn certain(name: &'static str, needles: &'static str, pattern: &'static str) -> Rule {
    Rule { name, needles, pattern, certain: true, proof: Proof::Shape }
}

const fn loose(name: &'static str, needles: &'static str, pattern: &'static str) -> Rule {
    Rule { name, needles, pattern, certain: true, proof: Proof::Random }
}

const fn masked(name: &'static str, needles: &'static str, pattern: &'static str) -> Rule {
    Rule { name, needles, pattern, certain: false, proof: Proof::Random }
}

const fn password(name: &'static str, needles: &'static str, pattern: &'static str) -> Rule {
    Rule { name, needles, pattern, certain: false, proof: Proof::Password }
}

/// The table. Where two rules match the same text, the earlier one names it.
pub(super) static RULES: [Rule; 53] = [
    // Clouds.
    certain("aws-access-key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    loose(
        "aws-secret-key",
        "aws AWS Aws secret_access_key secretAccessKey SecretAccessKey",
        r#"(?i)(?:aws[\w.-]{0,20}|secret_?access_?)key["'\s]{0,3}[:=,][>=\s"']{0,4}([a-z0-9/+]{40})(?:[^a-z0-9/+=]|$)"#,
    ),
    certain("google-api-key", "AIza", r"\b(AIza[0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)"),
    certain("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{28}"),
    certain("google-oauth-token", "ya29.", r"\bya29\.[A-Za-z0-9_-]{60,}"),
    certain("azure-storage-key", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    certain("azure-client-secret", "Q~", r"\b([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)"),
    certain("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    certain("databricks-token", "dapi", r"\bdapi[a-f0-9]{32}\b"),
    certain("vault-token", "hvs. hvb.", r"\bhv[sb]\.[A-Za-z0-9_-]{90,}"),
    certain("terraform-cloud-token", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    certain("heroku-key", "HRKU-", r"\bHRKU-AA[A-Za-z0-9_-]{58}"),
    certain("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    // Forges and registries.
    certain("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    certain("github-fine-grained-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{82}"),
    certain(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glagent- gloas- glsoat- glimt- glft-",
        r"\bgl(?:pat|dt|rt|ptt|cbt|agent|oas|soat|imt|ft)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2}[0-9a-z]{7})?",
    ),
    certain("bitbucket-token", "ATBB ATCTT3", r"\b(?:ATBB[A-Za-z0-9]{24,}|ATCTT3[A-Za-z0-9_=-]{60,})"),
    certain("atlassian-token", "ATATT3", r"ATATT3[A-Za-z0-9_=-]{60,}"),
    certain("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    certain("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    certain("crates-token", "cio", r"\bcio[A-Za-z0-9]{32}\b"),
    certain("rubygems-key", "rubygems_", r"\brubygems_[a-f0-9]{48}\b"),
    certain("docker-token", "dckr_pat_ dckr_oat_", r"\bdckr_[po]at_[A-Za-z0-9_-]{27,}"),
    // Chat.
    certain("slack-token", "xox", r"\bxox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z]{1,13}-[A-Za-z0-9-]{20,}"),
    certain("slack-app-token", "xapp-", r"\bxapp-[0-9]-[A-Z0-9]{8,}-[0-9]+-[a-f0-9]{32,}"),
    certain("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{40,60})"),
    certain("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{60,80})"),
    certain("telegram-token", ":AA", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b"),
    // Payment, mail, telephony, shops.
    certain("stripe-live-key", "sk_live_ rk_live_", r"\b[rs]k_live_[A-Za-z0-9]{16,247}"),
    masked("stripe-test-key", "sk_test_ rk_test_", r"\b[rs]k_test_[A-Za-z0-9]{16,247}"),
    masked("stripe-webhook-secret", "whsec_", r"\bwhsec_[A-Za-z0-9+/=]{24,}"),
    certain("square-token", "sq0atp- sq0csp-", r"\bsq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}\b"),
    // The same letters start a line of many a binary in base64.
    masked("square-access-token", "EAAA", r"(?:^|[^A-Za-z0-9_/+-])(EAAA[A-Za-z0-9_-]{60})(?:[^A-Za-z0-9_/+=-]|$)"),
    certain("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    certain("sendgrid-key", "SG.", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    masked("mailgun-key", "key-", r"\bkey-[a-f0-9]{32}\b"),
    // Two letters and what may be any MD5 sum.
    masked("twilio-key", "SK", r"\bSK[a-f0-9]{32}\b"),
    // Model vendors.
    certain("anthropic-key", "sk-ant-", r"\bsk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{32,}"),
    certain("openai-key", "T3BlbkFJ", r"\bsk-[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}"),
    loose("openai-project-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,}"),
    certain("openrouter-key", "sk-or-", r"\bsk-or-v1-[a-f0-9]{64}\b"),
    // Of some vendors, but also any MD5 sum behind a short prefix: masked, and taken before the next row refuses it.
    masked("model-vendor-hex-key", "sk-", r"\bsk-[a-f0-9]{32}\b"),
    loose("model-vendor-key", "sk-", r"\bsk-[A-Za-z0-9]{32,64}\b"),
    certain("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{34,40}\b"),
    certain("groq-key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,60}\b"),
    certain("xai-key", "xai-", r"\bxai-[A-Za-z0-9]{70,90}\b"),
    certain("nvidia-key", "nvapi-", r"\bnvapi-[A-Za-z0-9_-]{60,70}"),
    certain("perplexity-key", "pplx-", r"\bpplx-[A-Za-z0-9]{40,60}\b"),
    certain("replicate-token", "r8_", r"\br8_[A-Za-z0-9]{37,40}\b"),
    // Other services.
    certain("grafana-token", "glsa_ glc_", r"\bgl(?:sa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|c_[A-Za-z0-9+/]{40,400}={0,2})"),
    certain("linear-key", "lin_api_", r"\blin_api_[A-Za-z0-9]{40}\b"),
    // Seen too often in honest text to refuse.
    masked("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}"),
    password("url-password", "://", r#"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@"'`<>]{0,80}:([^\s/@"'`<>]{3,200})@[A-Za-z0-9\[$]"#),
];

impl Rule {
    /// Returns the compiled pattern. Patterns are ASCII: a token format knows no other letters.
    pub(super) fn regex(&self) -> &'static Regex {
        static COMPILED: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];
        let at = RULES.iter().position(|rule| rule.name == self.name).expect("the rule is a row of the table, because only the table makes rules");
        COMPILED[at]
            .get_or_init(|| RegexBuilder::new(self.pattern).unicode(false).build().expect("built-in patterns compile, because a test compiles each"))
    }

    /// Returns the rules that may match a text, in table order: those with a needle in it.
    pub(super) fn candidates(text: &[u8]) -> impl Iterator<Item = &'static Rule> {
        static NEEDLES: OnceLock<(AhoCorasick, Vec<usize>)> = OnceLock::new();
        let (needles, owner) = NEEDLES.get_or_init(|| {
            let needles = RULES.iter().enumerate().flat_map(|(at, rule)| rule.needles.split(' ').map(move |needle| (needle, at)));
            let (needles, owner): (Vec<&str>, Vec<usize>) = needles.unzip();
            // Of the kinds, this one is ready soonest for what it costs a byte: most runs search a few kilobytes.
            let compiled = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(needles);
            (compiled.expect("needles compile, because a test compiles them"), owner)
        });
        let mut found = [false; RULES.len()];
        needles.find_overlapping_iter(text).for_each(|needle| found[owner[needle.pattern().as_usize()]] = true);
        RULES.iter().zip(found).filter_map(|(rule, found)| found.then_some(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles_under_a_name_of_its_own() {
        for (at, rule) in RULES.iter().enumerate() {
            assert!(rule.regex().captures_len() <= 2, "{}: group 1 is the secret, there is no other", rule.name);
            assert!(RULES[..at].iter().all(|other| other.name != rule.name), "{} twice", rule.name);
            assert!(rule.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.name);
        }
    }

    #[test]
    fn a_needle_brings_its_rule_and_a_longer_one_both() {
        let names = |text: &str| Rule::candidates(text.as_bytes()).map(|rule| rule.name).collect::<Vec<_>>();
        assert_eq!(names("plain text"), Vec::<&str>::new());
        assert_eq!(names("sk-ant-x"), ["anthropic-key", "model-vendor-hex-key", "model-vendor-key"]);
        assert_eq!(names("Gxghp_gho_"), ["github-token"]);
    }
}
