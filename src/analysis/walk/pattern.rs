//! Patterns of `match`.

use super::expr::expression;
use super::{Bound, ExprPlace, Visitor};
use crate::analysis::parse::ast::{Expr, Pattern, Ranged};
use crate::policy::NodeKind;

pub(super) fn pattern<'a, V: Visitor<'a> + ?Sized>(v: &mut V, p: &'a Pattern, subject: &'a Expr) {
    match p {
        Pattern::MatchValue(value) => {
            v.node(NodeKind::MatchValue, value.range());
            expression(v, &value.value, ExprPlace::Compared);
        }
        Pattern::MatchSingleton(singleton) => v.node(NodeKind::MatchSingleton, singleton.range()),
        Pattern::MatchSequence(sequence) => {
            v.node(NodeKind::MatchSequence, sequence.range());
            sequence
                .patterns
                .iter()
                .for_each(|p| pattern(v, p, subject));
        }
        Pattern::MatchMapping(mapping) => {
            v.node(NodeKind::MatchMapping, mapping.range());
            for key in &mapping.keys {
                expression(v, key, ExprPlace::Compared);
            }
            mapping.patterns.iter().for_each(|p| pattern(v, p, subject));
            if let Some(rest) = &mapping.rest {
                v.bind(rest.as_str(), mapping.range(), Bound::Capture(subject));
            }
        }
        Pattern::MatchClass(class) => {
            v.node(NodeKind::MatchClass, class.range());
            expression(v, &class.cls, ExprPlace::Compared);
            class.patterns.iter().for_each(|p| pattern(v, p, subject));
            for attribute in &class.kwd_attrs {
                v.pattern_attribute(attribute.as_str(), class.range(), &class.cls);
            }
            class
                .kwd_patterns
                .iter()
                .for_each(|p| pattern(v, p, subject));
        }
        Pattern::MatchStar(star) => {
            v.node(NodeKind::MatchStar, star.range());
            if let Some(name) = &star.name {
                v.bind(name.as_str(), star.range(), Bound::Capture(subject));
            }
        }
        Pattern::MatchAs(capture) => {
            v.node(NodeKind::MatchAs, capture.range());
            if let Some(inner) = &capture.pattern {
                pattern(v, inner, subject);
            }
            if let Some(name) = &capture.name {
                v.bind(name.as_str(), capture.range(), Bound::Capture(subject));
            }
        }
        Pattern::MatchOr(or) => {
            v.node(NodeKind::MatchOr, or.range());
            or.patterns.iter().for_each(|p| pattern(v, p, subject));
        }
    }
}
