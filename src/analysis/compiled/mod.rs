//! The third pass: code that the parser accepts but CPython's compiler refuses. Such code never
//! runs, so it is never clear, and its proposer is informed before a person sees it.
//!
//! Only code refused by every CPython from 3.11 to 3.14 is refused here, because the broker does
//! not know which of them will run the snippet.

mod functions;
mod future;
mod matching;
mod scoping;
mod targets;

use self::functions::Frame;
use self::future::Future;
use self::scoping::Symbols;
use super::facts::Facts;
use super::fold::fold;
use super::parse::TextRange;
use super::parse::ast::{self, ExceptHandler, Expr, Ranged, Stmt};
use super::rules;
use super::walk::{self, Block, Bound, ExprPlace, Scope, TargetOf, Visitor};

/// Adds a fact for each place that the compiler would refuse.
pub fn check(text: &str, body: &[Stmt], facts: &mut Facts) {
    let mut compiler = Compiler {
        text,
        future: Future::of(body),
        frames: vec![Frame::module()],
        inside: vec![Inside::default()],
        symbols: Symbols::where_needed(text),
        stars: 0,
        facts,
    };
    walk::body(&mut compiler, body);
    compiler.unbound_nonlocals();
}

struct Compiler<'a, 'f> {
    text: &'a str,
    future: Future,
    frames: Vec<Frame>,
    /// One entry for each scope, and for each block in it that changes what is allowed.
    inside: Vec<Inside>,
    /// Only if the snippet contains something that depends on symbols.
    symbols: Option<Symbols<'a>>,
    /// Starred expressions that an enclosing list, tuple or call allows and that were not visited
    /// yet.
    stars: usize,
    facts: &'f mut Facts,
}

/// What the enclosing blocks allow.
#[derive(Clone, Copy, Default)]
struct Inside {
    /// Inside a loop that `break` and `continue` can reach.
    looped: bool,
    /// Inside a handler of `except*`.
    group: bool,
    /// Inside the iterable of a comprehension.
    iterable: bool,
    /// Inside an annotation that is kept as text.
    quoted: bool,
    /// Inside an annotation that is not compiled.
    skipped: bool,
}

impl<'a> Compiler<'a, '_> {
    fn refuse(&mut self, at: TextRange, what: impl Into<String>) {
        let at = (at.start().to_usize(), at.end().to_usize());
        self.facts.add(&rules::REFUSED_BY_CPYTHON, at, what);
    }

    fn inside(&self) -> Inside {
        self.inside.last().copied().unwrap_or_default()
    }

    /// Refuses binding `__debug__`, which is a constant.
    fn debug(&mut self, name: &str, at: TextRange) {
        if fold(name) == "__debug__" {
            self.refuse(at, "binds `__debug__`");
        }
    }

    /// `except:` catches everything, so it must come last.
    fn handlers(&mut self, handlers: &'a [ExceptHandler]) {
        let Some((_, earlier)) = handlers.split_last() else {
            return;
        };
        for handler in earlier {
            let ExceptHandler::ExceptHandler(x) = handler;
            if x.type_.is_none() {
                self.refuse(x.range(), "an `except:` that is not the last");
            }
        }
    }
}

impl<'a> Visitor<'a> for Compiler<'a, '_> {
    fn statement(&mut self, statement: &'a Stmt) {
        let at = statement.range();
        match statement {
            Stmt::FunctionDef(x) => self.parameters(&x.args),
            Stmt::AsyncFunctionDef(x) => self.parameters(&x.args),
            Stmt::ClassDef(x) => {
                self.room(&x.bases);
                self.arguments(&x.bases, &x.keywords, at, 0);
            }
            Stmt::Return(x) => self.returned(x.value.is_some(), at),
            Stmt::Delete(_) | Stmt::Assign(_) => {}
            Stmt::AugAssign(x) => self.augmented(x),
            Stmt::AnnAssign(x) => self.annotated(x),
            Stmt::AsyncFor(_) => self.in_async_function("async for", at),
            Stmt::AsyncWith(_) => self.in_async_function("async with", at),
            Stmt::Match(x) => self.cases(x),
            Stmt::Try(x) => self.handlers(&x.handlers),
            Stmt::TryStar(x) => self.handlers(&x.handlers),
            Stmt::ImportFrom(x) => self.imported(x),
            Stmt::Break(_) => self.jump("break", at),
            Stmt::Continue(_) => self.jump("continue", at),
            Stmt::TypeAlias(_)
            | Stmt::For(_)
            | Stmt::While(_)
            | Stmt::If(_)
            | Stmt::With(_)
            | Stmt::Raise(_)
            | Stmt::Assert(_)
            | Stmt::Import(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Expr(_)
            | Stmt::Pass(_) => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        match e {
            Expr::Name(x) => self.name(x),
            Expr::NamedExpr(x) => self.walrus(x),
            Expr::Lambda(x) => self.parameters(&x.args),
            Expr::Await(_) => self.awaits(e.range()),
            Expr::Yield(_) => self.yields("yield", e.range()),
            Expr::YieldFrom(_) => self.yields("yield from", e.range()),
            Expr::Call(x) => {
                self.room(&x.args);
                self.arguments(&x.args, &x.keywords, e.range(), 1);
            }
            Expr::Subscript(x) => self.room(std::slice::from_ref(&*x.slice)),
            Expr::Set(x) => self.room(&x.elts),
            Expr::List(x) => self.elements(&x.elts, x.ctx),
            Expr::Tuple(x) => self.elements(&x.elts, x.ctx),
            Expr::Starred(x) => self.starred(x),
            Expr::BoolOp(_)
            | Expr::BinOp(_)
            | Expr::UnaryOp(_)
            | Expr::IfExp(_)
            | Expr::Dict(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::GeneratorExp(_)
            | Expr::Compare(_)
            | Expr::FormattedValue(_)
            | Expr::JoinedStr(_)
            | Expr::Constant(_)
            | Expr::Attribute(_)
            | Expr::Slice(_) => {}
        }
        if let ExprPlace::Target = place {
            self.target(e);
        }
    }

    fn bind(&mut self, name: &'a str, at: TextRange, to: Bound<'a>) {
        self.debug(name, at);
        self.bound(name, at, to);
    }

    fn annotate(&mut self, name: &'a str, at: TextRange) {
        self.debug(name, at);
    }

    fn keyword(&mut self, name: &'a str, at: TextRange) {
        self.debug(name, at);
    }

    fn pattern_attribute(&mut self, name: &'a str, at: TextRange, _class: &'a Expr) {
        self.debug(name, at);
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, of: TargetOf, _to: Bound<'a>) {
        // The compiler checks neither `del x.__debug__` nor `x.__debug__ += 1`.
        if !matches!(of, TargetOf::Delete | TargetOf::Augmented) {
            self.debug(target.attr.as_str(), target.range());
        }
    }

    fn declare(&mut self, name: &'a str, global: bool, at: TextRange) {
        self.declared(name, global, at);
    }

    fn enter(&mut self, scope: Scope<'a>) {
        self.frames.push(Frame::of(scope));
        let around = self.inside();
        self.inside.push(Inside {
            iterable: around.iterable,
            skipped: around.skipped,
            ..Inside::default()
        });
        if let Some(symbols) = &mut self.symbols {
            symbols.enter(scope);
        }
    }

    fn leave(&mut self) {
        self.inside.pop();
        if let Some(frame) = self.frames.pop() {
            self.left(&frame);
        }
        if let Some(symbols) = &mut self.symbols {
            symbols.leave();
        }
    }

    fn begin(&mut self, block: Block) {
        let around = self.inside();
        let quoted = self.future.annotations;
        self.inside.push(match block {
            Block::Loop => Inside {
                looped: true,
                ..around
            },
            Block::Group => Inside {
                looped: false,
                group: true,
                ..around
            },
            Block::Iterable => Inside {
                iterable: true,
                ..around
            },
            Block::Signature => Inside {
                quoted,
                skipped: quoted,
                ..around
            },
            Block::Variable => Inside {
                quoted,
                skipped: quoted || self.in_function(),
                ..around
            },
        });
    }

    fn end(&mut self) {
        self.inside.pop();
    }
}
