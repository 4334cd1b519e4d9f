//! From a file's content on disk to what git would store of it, without running anything: line ends, encoding and `$Id$` follow the attributes; the list
//! of filter drivers is empty, so a file under one (git-lfs) stays as it is on disk.

use super::{GitError, object};
use gix::Repository;
use gix::bstr::BStr;
use gix::filter::plumbing::{Pipeline, pipeline::CrlfRoundTripCheck, pipeline::convert::ToGitOutcome};
use gix::index::State;
use gix::worktree::{Stack, stack::state::attributes};
use std::path::Path;

/// The conversions of one repository.
pub(super) struct Clean<'r> {
    repo: &'r Repository,
    index: &'r State,
    pipeline: Pipeline,
    attributes: Stack,
}

impl<'r> Clean<'r> {
    pub(super) fn new(repo: &'r Repository, index: &'r State) -> Result<Clean<'r>, GitError> {
        let attributes = repo.attributes_only(index, attributes::Source::WorktreeThenIdMapping).map(gix::AttributeStack::detach);
        let attributes = attributes.map_err(GitError::other("read the attributes"))?;
        let pipeline = gix::filter::Pipeline::new(repo, attributes).map_err(GitError::other("read the settings of line ends"))?;
        let (mut pipeline, attributes) = pipeline.into_parts();
        pipeline.options_mut().drivers.clear();
        pipeline.options_mut().crlf_roundtrip_check = CrlfRoundTripCheck::Skip;
        Ok(Clean { repo, index, pipeline, attributes })
    }

    /// Returns what git would store of the content; `path` and `relative` are the same path.
    pub(super) fn stored_form(&mut self, path: &BStr, relative: &Path, content: Vec<u8>) -> Result<Vec<u8>, GitError> {
        let doing = || format!("bring {path} into the form that git stores");
        let (repo, index) = (self.repo, self.index);
        let attributes = self.attributes.at_path(relative, None, &repo.objects).map_err(GitError::other(doing()))?;
        let mut matching = |_: &BStr, found: &mut gix::attrs::search::Outcome| {
            attributes.matching_attributes(found);
        };
        let mut indexed = |buffer: &mut Vec<u8>| {
            let Some(entry) = index.entry_by_path(path) else { return Ok(None) };
            *buffer = object::blob(repo, object::oid(&entry.id)).map_err(gix::Error::from_error)?;
            Ok(Some(()))
        };
        let converted = self.pipeline.convert_to_git(&content[..], relative, &mut matching, &mut indexed).map_err(GitError::other(doing()))?;
        match converted {
            ToGitOutcome::Unchanged(_) => {}
            ToGitOutcome::Buffer(buffer) => return Ok(buffer.to_vec()),
            ToGitOutcome::Process(_) => {
                let remedy = "review a range or the index instead".to_owned();
                return Err(GitError::Unsupported { what: format!("a filter program for {path}"), remedy });
            }
        }
        Ok(content)
    }
}
