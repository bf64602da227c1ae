//! What those are told of earlier proposals who may not see all of them.

use super::{Earlier, Of, Past, Tally, VerdictKind};
use crate::model::ProposalId;

impl Past {
    /// [`Self::tally`] as if nothing else had ever been proposed than what they may see. Counts stop where
    /// [`Self::found`] does. Of a shape, of which only decisions are kept, it has the last ones if they may see those.
    pub fn tally_seen<'a>(
        &'a self,
        of: &Of<'_>,
        but: Option<ProposalId>,
        may_see: &dyn Fn(&Earlier) -> bool,
    ) -> Tally<'a> {
        if let Of::Tokens(_) | Of::Numbers(_) | Of::Texts(_) = of {
            let all = self.tally(of, but);
            let seen = |last: Option<&'a Earlier>| last.filter(|earlier| may_see(earlier));
            return Tally {
                last_granted: seen(all.last_granted),
                last_denied: seen(all.last_denied),
                ..Tally::default()
            };
        }
        let mut tally = Tally::default();
        let found = self.found(of).filter(|e| Some(e.id) != but && may_see(e));
        for earlier in found {
            tally.blocked += u32::from(earlier.verdict == VerdictKind::Blocked);
            let Some(decided) = &earlier.decided else {
                continue;
            };
            let (count, last) = match decided.granted {
                true => (&mut tally.granted, &mut tally.last_granted),
                false => (&mut tally.denied, &mut tally.last_denied),
            };
            *count += 1;
            let before = last.and_then(|last: &Earlier| last.decided.as_ref());
            if before.is_none_or(|before| before.at < decided.at) {
                *last = Some(earlier);
            }
        }
        tally
    }
}
