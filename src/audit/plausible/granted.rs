//! What was granted: what was proposed, and what its digest says.

use super::super::layout::Layout;
use super::texts;
use crate::model::{Bound, BoundInput, Digest, GrantedLog, InputKind};

/// Identifies inputs as records name them.
pub(super) fn inputs(inputs: &[BoundInput]) -> Digest {
    // They hold strings, numbers and digests, so serialising cannot fail.
    Digest::of(&serde_json::to_vec(inputs).unwrap_or_default())
}

/// What the digest of a grant contradicts. Of what was proposed `inputs` identifies the inputs. `layout` has the contents
/// that earlier versions bound by their texts.
pub(super) fn contradicts(
    g: &GrantedLog,
    proposed: &Digest,
    layout: Option<&Layout>,
) -> Option<String> {
    if inputs(&g.inputs) != *proposed {
        return Some("`granted` names other inputs than were proposed".to_owned());
    }
    if g.private_told && !g.inputs.iter().any(BoundInput::is_private) {
        return Some(
            "`granted` lets values of private data go, and has no private data".to_owned(),
        );
    }
    let policy = g.policy_sha256.parse().ok()?;
    let bound = Bound {
        id: g.id,
        code: g.digest,
        inputs: &g.inputs,
        told: g.private_told,
        profile: &g.profile,
        policy,
        limits: &g.limits,
        tier: g.tier,
        environment: g.environment,
    };
    if bound.digest() == g.grant_digest {
        return None;
    }
    let earlier = with_texts(&g.inputs, layout);
    // Without the texts nobody can say.
    let earlier = Bound {
        inputs: &earlier?,
        ..bound
    };
    (earlier.digest_with_texts() != g.grant_digest)
        .then(|| "`granted` has a `grant_digest` that its fields do not give".to_owned())
}

/// The inputs with their contents; `None` if one is not there, or may have had none.
fn with_texts(inputs: &[BoundInput], layout: Option<&Layout>) -> Option<Vec<BoundInput>> {
    let inputs = inputs.iter().map(|input| {
        let mut input = input.clone();
        match &mut input.kind {
            InputKind::Dataset { .. } => {}
            InputKind::Json { text } | InputKind::Text { text, .. } => {
                *text = texts::read(layout?, &input.sha256)?;
            }
            InputKind::Artifact { .. } => return None,
        }
        Some(input)
    });
    inputs.collect()
}
