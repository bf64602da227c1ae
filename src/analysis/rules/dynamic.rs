//! Rules for text that becomes code.

use super::{Rule, Weight};
use crate::model::{Action, Capability, Severity};

pub static DYN_EVAL: Rule = Rule {
    code: "DYN001",
    name: "dynamic-code",
    severity: Severity::Critical,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[95],
    message: "evaluates text as code",
    hint: "write the code itself",
    example: "eval(\"1\")",
};

pub static DYN_QUERY_COMPUTED: Rule = Rule {
    code: "DYN002",
    name: "computed-query",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[95],
    message: "evaluates text as code; the text is computed",
    hint: "hand values over with @name: `query(\"quantity > @lim\")`; or write the query as a literal, or use a boolean mask",
    example: "df.query(user)",
};

pub static DYN_QUERY_UNREADABLE: Rule = Rule {
    code: "DYN003",
    name: "unreadable-query",
    severity: Severity::Medium,
    weight: Weight::AtLeast(Action::Flag),
    capability: Some(Capability::DynamicCode),
    cwe: &[95],
    message: "evaluates text as code; the text could not be read as an expression",
    hint: "use a boolean mask",
    example: "df.query(\"a >\")",
};

pub static DYN_QUERY_SCOPE: Rule = Rule {
    code: "DYN004",
    name: "query-scope",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[95],
    message: "hands names to an evaluator",
    hint: "use @name in the query",
    example: "df.query(\"a > b\", local_dict=d)",
};

pub static DYN_BACKEND: Rule = Rule {
    code: "DYN005",
    name: "chosen-backend",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[470],
    message: "imports a module that is named by text",
    hint: "leave the backend alone",
    example: "df.plot(backend=\"os\")",
};

pub static DYN_TYPE: Rule = Rule {
    code: "DYN006",
    name: "class-from-text",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[470],
    message: "builds a class out of values",
    hint: "write a class statement",
    example: "type(\"X\", (), {})",
};

pub static DYN_TYPE_VALUE: Rule = Rule {
    code: "DYN007",
    name: "type-as-value",
    severity: Severity::Medium,
    weight: Weight::Capability,
    capability: Some(Capability::Reflect),
    cwe: &[470],
    message: "hands `type` on as a value, or calls what it returned",
    hint: "call type(x) with one argument",
    example: "type(lambda: 0)(code, {})",
};

pub static DYN_METACLASS: Rule = Rule {
    code: "DYN008",
    name: "metaclass",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[913],
    message: "chooses the class of a class",
    hint: "use a class decorator",
    example: "class X(metaclass=M): pass",
};

pub static DYN_BY_NAME: Rule = Rule {
    code: "DYN009",
    name: "method-by-name",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[470],
    message: "calls a method that is named by text",
    hint: "call the method itself",
    example: "df.agg(\"to_pickle\")",
};

pub static DYN_FORMULA: Rule = Rule {
    code: "DYN010",
    name: "computed-formula",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[95],
    message: "a model formula is evaluated as code; its text is computed",
    hint: "write the formula as a literal",
    example: "import statsmodels.formula.api as smf; smf.ols(text, df)",
};

pub static DYN_TYPE_CALL: Rule = Rule {
    code: "DYN011",
    name: "type-called",
    severity: Severity::Low,
    weight: Weight::Always(Action::Flag),
    capability: Some(Capability::Unanalyzed),
    cwe: &[470],
    message: "builds an object of whatever class the value has",
    hint: "name the class",
    example: "type(x)(1)",
};

pub static DYN_BY_COMPUTED_NAME: Rule = Rule {
    code: "DYN012",
    name: "computed-method-name",
    severity: Severity::Medium,
    weight: Weight::Always(Action::Flag),
    capability: Some(Capability::Unanalyzed),
    cwe: &[470],
    message: "calls a method whose name is put together while it runs",
    hint: "write the name as a literal, or hand over a function",
    example: "df.agg(\"\".join(parts))",
};

pub static DYN_TEMPLATE: Rule = Rule {
    code: "DYN013",
    name: "template-engine",
    severity: Severity::High,
    weight: Weight::Capability,
    capability: Some(Capability::DynamicCode),
    cwe: &[1336],
    message: "reaches a template engine, which runs what its templates say",
    hint: "style with format, apply and set_properties",
    example: "df.style.env.from_string(text)",
};

pub(super) static RULES: &[&Rule] = &[
    &DYN_EVAL,
    &DYN_QUERY_COMPUTED,
    &DYN_QUERY_UNREADABLE,
    &DYN_QUERY_SCOPE,
    &DYN_BACKEND,
    &DYN_TYPE,
    &DYN_TYPE_VALUE,
    &DYN_METACLASS,
    &DYN_BY_NAME,
    &DYN_FORMULA,
    &DYN_TYPE_CALL,
    &DYN_BY_COMPUTED_NAME,
    &DYN_TEMPLATE,
];
