//! Tier × author × reviewers → passes with their chains. The author's family never reviews itself, and for each reviewer that was not eligible the plan
//! says why. Pure.

use crate::author::Kind;
use crate::family::Family;
use crate::reviewer::Spec;
use crate::tier::Tier;
use std::collections::BTreeSet;
use std::fmt;
use thiserror::Error;

/// One question put to one reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PassName {
    /// Bugs, error handling, contracts with the code around.
    General,
    /// How it breaks under attack and in unhappy orders of events.
    Adversarial,
    /// Would the tests fail if the code broke?
    Tests,
    /// The adversarial question again: a second other family, or a second fresh call.
    SecondAdversarial,
}

impl PassName {
    /// Returns the word of report and banner.
    pub fn as_str(self) -> &'static str {
        match self {
            PassName::General => "general",
            PassName::Adversarial => "adversarial",
            PassName::Tests => "tests",
            PassName::SecondAdversarial => "adversarial-2",
        }
    }
}

impl fmt::Display for PassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One element of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Position in the list of reviewers.
    pub reviewer: usize,
    /// The reviewer is of the author's family: used only where every other one was unavailable, and labelled.
    pub degraded: bool,
}

/// A mandatory pass and who may answer it, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassPlan {
    /// Which question.
    pub name: PassName,
    /// The first usable reply wins; a chain advances only where there was no verdict.
    pub chain: Vec<Link>,
}

/// What `same_family` allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameFamily {
    /// Never.
    Refuse,
    /// At light and standard, where no other family is configured or all of them are out; labelled DEGRADED everywhere.
    Degraded,
}

impl SameFamily {
    /// Returns the word of configuration and report.
    pub fn as_str(self) -> &'static str {
        match self {
            SameFamily::Refuse => "refuse",
            SameFamily::Degraded => "degraded",
        }
    }
}

/// A reviewer that may not answer, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ineligible {
    /// Position in the list of reviewers.
    pub reviewer: usize,
    /// For people.
    pub why: String,
}

/// The passes of one subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the report.
    pub passes: Vec<PassPlan>,
    /// Who answers the refuter's question, in order; never the author's family.
    pub refuter: Vec<Link>,
    /// Who may not answer.
    pub ineligible: Vec<Ineligible>,
}

/// There is nobody to ask (status 2).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoReviewer {
    /// The configuration lists none.
    #[error("no reviewer is configured")]
    NoneConfigured,
    /// Every configured one is of the author's family.
    #[error("no reviewer is eligible: {}", .0.join("; "))]
    NoneEligible(Vec<String>),
    /// No family is known to have written it and every reviewer is of one family, which may be the one that did: at full that proves nothing.
    #[error("no family is known to have written the change and every reviewer is of the family {0}: at full two families are needed")]
    OneFamilyAtFull(Family),
}

/// Makes the plan.
///
/// # Errors
/// [`NoReviewer`], before anything was spent.
pub fn plan(tier: Tier, known: Kind, families: &BTreeSet<Family>, reviewers: &[Spec], same_family: SameFamily) -> Result<Plan, NoReviewer> {
    if reviewers.is_empty() {
        return Err(NoReviewer::NoneConfigured);
    }
    let (same, other): (Vec<usize>, Vec<usize>) = (0..reviewers.len()).partition(|index| families.contains(&reviewers[*index].family));
    let mut chain: Vec<Link> = other.iter().map(|reviewer| Link { reviewer: *reviewer, degraded: false }).collect();
    let why = |index: &usize| format!("{} is of the family {}, which wrote the change", reviewers[*index].name, reviewers[*index].family);
    let mut ineligible = Vec::new();
    if same_family == SameFamily::Degraded && tier < Tier::Full {
        chain.extend(same.iter().map(|reviewer| Link { reviewer: *reviewer, degraded: true }));
    } else {
        ineligible.extend(same.iter().map(|index| Ineligible { reviewer: *index, why: why(index) }));
    }
    if chain.is_empty() {
        return Err(NoReviewer::NoneEligible(same.iter().map(why).collect()));
    }
    let second = second_adversary(&chain, reviewers);
    if tier == Tier::Full && known != Kind::Known && second.is_none() {
        return Err(NoReviewer::OneFamilyAtFull(reviewers[chain[0].reviewer].family.clone()));
    }
    let names: &[PassName] = match tier {
        Tier::Light => &[PassName::General],
        Tier::Standard => &[PassName::General, PassName::Adversarial, PassName::Tests],
        Tier::Full => &[PassName::General, PassName::Adversarial, PassName::Tests, PassName::SecondAdversarial],
    };
    let chain_of = |name| if name == PassName::SecondAdversarial { second.clone().unwrap_or_else(|| chain.clone()) } else { chain.clone() };
    let passes = names.iter().map(|name| PassPlan { name: *name, chain: chain_of(*name) }).collect();
    // The author's own family may stand in for a review where policy allows it, never clear what another family found.
    let refuter = chain.into_iter().filter(|link| !link.degraded).collect();
    Ok(Plan { passes, refuter, ineligible })
}

/// Returns the reviewers of a second family, and only those: the first family's would make it the same opinion twice. `None` where there is only one.
fn second_adversary(chain: &[Link], reviewers: &[Spec]) -> Option<Vec<Link>> {
    let first = &reviewers[chain[0].reviewer].family;
    let others: Vec<Link> = chain.iter().filter(|link| reviewers[link.reviewer].family != *first).copied().collect();
    (!others.is_empty()).then_some(others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reviewer::test_spec;

    fn chains(tier: Tier, known: Kind, author: &[&str], families: &[&str], same: SameFamily) -> Result<Vec<Vec<(usize, bool)>>, NoReviewer> {
        let reviewers: Vec<Spec> = families.iter().enumerate().map(|(i, family)| test_spec(&format!("r{i}"), family)).collect();
        let author = author.iter().map(|family| Family::new(family)).collect();
        let plan = plan(tier, known, &author, &reviewers, same)?;
        Ok(plan.passes.iter().map(|pass| pass.chain.iter().map(|link| (link.reviewer, link.degraded)).collect()).collect())
    }

    #[test]
    fn the_authors_family_never_reviews_itself() {
        use Kind::{Known, Unknown};
        use SameFamily::{Degraded, Refuse};
        type Case<'a> = (&'a str, Tier, Kind, &'a [&'a str], &'a [&'a str], SameFamily, &'a [&'a [(usize, bool)]]);
        let cases: [Case<'_>; 8] = [
            ("light asks one question", Tier::Light, Known, &["anthropic"], &["openai"], Refuse, &[&[(0, false)]]),
            ("the author's own is left out", Tier::Light, Known, &["openai"], &["openai", "qwen"], Refuse, &[&[(1, false)]]),
            ("several authors", Tier::Light, Known, &["openai", "qwen"], &["openai", "qwen", "google"], Refuse, &[&[(2, false)]]),
            ("degraded comes last", Tier::Light, Known, &["openai"], &["openai", "qwen"], Degraded, &[&[(1, false), (0, true)]]),
            ("degraded alone", Tier::Light, Known, &["openai"], &["openai"], Degraded, &[&[(0, true)]]),
            ("unknown: everyone", Tier::Light, Unknown, &[], &["openai", "qwen"], Refuse, &[&[(0, false), (1, false)]]),
            (
                "full: a second family first",
                Tier::Full,
                Unknown,
                &[],
                &["openai", "openai", "qwen"],
                Refuse,
                &[&[(0, false), (1, false), (2, false)], &[(0, false), (1, false), (2, false)], &[(0, false), (1, false), (2, false)], &[(2, false)]],
            ),
            (
                "full without a second family: a second fresh call",
                Tier::Full,
                Known,
                &["qwen"],
                &["openai"],
                Refuse,
                &[&[(0, false)], &[(0, false)], &[(0, false)], &[(0, false)]],
            ),
        ];
        for (name, tier, known, author, reviewers, same, expected) in cases {
            let got = chains(tier, known, author, reviewers, same).expect(name);
            assert_eq!(got, expected.iter().map(|chain| chain.to_vec()).collect::<Vec<_>>(), "{name}");
        }
    }

    #[test]
    fn nobody_to_ask_is_an_error_before_any_call() {
        assert_eq!(chains(Tier::Light, Kind::Unknown, &[], &[], SameFamily::Refuse), Err(NoReviewer::NoneConfigured));
        assert!(matches!(chains(Tier::Light, Kind::Known, &["openai"], &["openai"], SameFamily::Refuse), Err(NoReviewer::NoneEligible(_))));
        assert!(matches!(chains(Tier::Full, Kind::Known, &["openai"], &["openai"], SameFamily::Degraded), Err(NoReviewer::NoneEligible(_))));
        for kind in [Kind::Unknown, Kind::Human] {
            assert!(matches!(chains(Tier::Full, kind, &[], &["openai"], SameFamily::Refuse), Err(NoReviewer::OneFamilyAtFull(_))));
        }
    }
}
