//! Common mistakes, one per row, and texts truncated at any position.

use super::slips::explain;
use crate::analysis::parse::module;
use crate::analysis::source::Source;

/// The code, the position of the mistake, its message, and a part of the hint.
#[rustfmt::skip]
const TABLE: &[(&str, (u32, u32), &str, &str)] = &[
    ("x = 1\nif x > 0\n    print(x)\n", (2, 9), "expected ':'", "end it with a colon: if x > 0:"),
    ("for i in range(3)\n    print(i)\n", (1, 18), "expected ':'", "end it with a colon: for i in range(3):"),
    ("def f(a)\n    return a\n", (1, 9), "expected ':'", "end it with a colon: def f(a):"),
    ("if 1:\n    x=1\nelse\n    x=2\n", (3, 5), "expected ':'", "end it with a colon: else:"),
    ("while True\n    break\n", (1, 11), "expected ':'", "end it with a colon: while True:"),
    ("class A\n    x=1\n", (1, 8), "expected ':'", "end it with a colon: class A:"),
    ("with open('a') as f\n    pass\n", (1, 20), "expected ':'", "end it with a colon: with open('a') as f:"),
    ("try\n    x=1\nexcept Exception:\n    pass\n", (1, 4), "expected ':'", "end it with a colon: try:"),
    ("try:\n    x=1\nexcept Exception\n    pass\n", (3, 17), "expected ':'", "end it with a colon: except Exception:"),
    ("if x == 1  # note\n    pass\n", (1, 10), "expected ':'", "end it with a colon: if x == 1:"),
    ("if (x ==\n    1)\n    pass\n", (2, 7), "expected ':'", "end it with a colon: if (x == 1):"),
    ("if x:\n    pass\nelif y\n    pass\n", (3, 7), "expected ':'", "end it with a colon: elif y:"),
    ("print((1 + 2)\nx = 3\n", (1, 6), "'(' was never closed", "write the ')' that is missing"),
    ("x = [1, 2,\ny = 3\n", (1, 5), "'[' was never closed", "write the ']' that is missing"),
    ("x = {'a': 1,\nprint(x)\n", (1, 5), "'{' was never closed", "write the '}' that is missing"),
    ("df = foo(\n    a=1,\n", (1, 9), "'(' was never closed", "write the ')' that is missing"),
    ("x = (1 + 2))\n", (1, 12), "unmatched ')'", "delete it, or write the bracket that opens it"),
    ("x = (1 + 2]\n", (1, 11), "closing parenthesis ']' does not match opening parenthesis '('", "write ')'"),
    ("x = 'abc\ny = 2\n", (1, 5), "unterminated string literal", "close it with the quote that it begins with; a text of several lines takes three"),
    ("x = '''abc\ny = 2\n", (1, 5), "unterminated triple-quoted string literal", "close it with the quote that it begins with; a text of several lines takes three"),
    ("x = f'abc {y\n", (1, 5), "unterminated string literal", "close it with the quote that it begins with; a text of several lines takes three"),
    ("x = f'{d['a']}'\n", (1, 11), "a quote inside a string ends it", "use the other quotes inside the text, or put \\ before the quote"),
    ("x = 1\n    y = 2\n", (2, 1), "unexpected indent", "begin the line where the lines around it begin, and indent with four blanks"),
    ("if x:\nprint(1)\n", (2, 1), "expected an indented block", "indent the lines that belong to the block, or write pass"),
    ("if x:\n        a = 1\n    b = 2\n", (3, 5), "unindent does not match any outer indentation level", "begin the line where the lines around it begin, and indent with four blanks"),
    ("if x:\n    a = 1\n	b = 2\n", (3, 2), "inconsistent use of tabs and spaces in indentation", "begin the line where the lines around it begin, and indent with four blanks"),
    ("print x\n", (1, 1), "missing parentheses in the call of 'print'", "print is a function: write print(x)"),
    ("print 'hello'\n", (1, 1), "missing parentheses in the call of 'print'", "print is a function: write print(x)"),
    ("```python\nx = 1\n```\n", (1, 1), "'```' is a fence of Markdown", "delete the line: send the code alone"),
    ("Here is the code:\n```python\nx = 1\n```\n", (1, 13), "invalid syntax. Got unexpected token 'code'", "send the code alone, without the text and the fences '```' around it"),
    (">>> x = 1\n>>> print(x)\n", (1, 1), "'>>>' is the prompt of a console", "delete the prompts '>>> ' and '... ', and what was printed: send the code alone"),
    ("if x:\n    a=1\nelse if y:\n    a=2\n", (3, 1), "unexpected 'else if'", "write elif"),
    ("if x = 1:\n    pass\n", (1, 6), "'=' in a condition", "write '==' to compare, or ':=' to assign"),
    ("while x = 1:\n    pass\n", (1, 9), "'=' in a condition", "write '==' to compare, or ':=' to assign"),
    ("x = [1 2 3]\n", (1, 8), "unexpected '2'", "perhaps a comma is missing before it, or an operator"),
    ("f(a b)\n", (1, 5), "unexpected 'b'", "perhaps a comma is missing before it, or an operator"),
    ("x = {'a': 1 'b': 2}\n", (1, 13), "unexpected string 'b'", "perhaps a comma is missing before it, or an operator"),
    ("x = {'a' 1}\n", (1, 10), "unexpected '1'", "perhaps a comma is missing before it, or an operator"),
    ("f(a=1, a=2)\n", (1, 8), "keyword argument repeated: a", ""),
    ("f(a=1, 2)\n", (1, 8), "positional argument follows keyword argument", ""),
    ("if a && b:\n    pass\n", (1, 6), "unexpected '&&'", "write and"),
    ("if a || b:\n    pass\n", (1, 6), "unexpected '||'", "write or"),
    ("if !a:\n    pass\n", (1, 4), "unexpected character '!'", "write not: if not x"),
    ("x++\n", (1, 2), "unexpected '++'", "write x += 1"),
    ("x = null;\n}\n", (2, 1), "unmatched '}'", "delete it, or write the bracket that opens it"),
    ("print(“hello”)\n", (1, 7), "invalid character '“' (U+201C)", "write straight quotes, \" or '"),
    ("if (x) {\n    y = 1\n}\n", (1, 8), "'{' begins no block", "end the line with ':', and indent the lines of the block"),
    ("try:\n    pass\nexcept ValueError, e:\n    pass\n", (3, 8), "multiple exception types must be parenthesized", "write except (A, B): for two types, and except A as e: for a name"),
    ("Here is the analysis of the data\nprint(1)\n", (1, 13), "unexpected 'analysis'", "text that is no code stands behind '#', or in quotes"),
    ("class = 1\n", (1, 1), "'class' is a keyword", "use another name, as class_"),
    ("lambda x: return x\n", (1, 11), "'return' in a lambda", "a lambda is one expression: write a function with def"),
    ("x := 3\n", (1, 3), "invalid syntax, unexpected ':='", ""),
    ("$x = 1\n", (1, 1), "unexpected character '$'", ""),
    ("x =\n", (1, 4), "the line ends behind '='", "write what is missing; a line goes on inside brackets only"),
    ("x = 007\n", (1, 5), "leading zeros in decimal integer literals are not permitted", "write the number without zeros before it, or as a text in quotes"),
    ("x = a ? 1 : 2\n", (1, 7), "unexpected character '?'", "write a choice as: a if test else b"),
    ("import pandas as\n", (1, 17), "the line ends behind 'as'", "write what is missing; a line goes on inside brackets only"),
    ("from pandas import\n", (1, 19), "the line ends behind 'import'", "write what is missing; a line goes on inside brackets only"),
    ("x = [1, …]\n", (1, 9), "invalid character '…' (U+2026)", "outside of quotes and comments code is made of letters, digits and ASCII signs"),
    ("x\u{a0}= 1\n", (1, 2), "invalid non-printable character U+00A0", "write an ordinary blank"),
    ("x = 1 + \\ \n    2\n", (1, 10), "unexpected character after line continuation character", ""),
    ("function f(x) {\n return x\n}\n", (1, 1), "unexpected 'function'", "write a function as def f(x): and assign with x = 1"),
    ("def f(:\n    pass\n", (1, 7), "invalid syntax, unexpected ':'", ""),
    ("for i range(3):\n    pass\n", (1, 7), "expected 'in'", "write for x in values:"),
    ("if x:\n    a=1\nelseif y:\n    a=2\n", (3, 1), "unexpected 'elseif'", "write elif"),
    ("// a comment\nx = 1\n", (1, 1), "'//' begins no comment", "a comment begins with '#'"),
    ("<code>\nx = 1\n</code>\n", (1, 1), "invalid syntax, unexpected '<'", ""),
];

#[test]
fn a_slip_is_reported_with_its_place_and_its_remedy() {
    let mut failures = Vec::new();
    for (code, at, message, hint) in TABLE {
        let slip = explain(code, module(code).unwrap_err());
        let place = Source::new(code).position(slip.offset);
        let actual = slip.hint.clone().unwrap_or_default();
        if place != *at || slip.message != *message || !actual.contains(hint) {
            failures.push(format!("{code:?}: {place:?} {slip:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Wherever a text is cut or a character removed, the reported position lies inside the text.
#[test]
fn reported_positions_lie_inside_every_torn_text() {
    let code = "def f(a, b='x'):\n    if a == {'k': [1, 2]}:\n        return f\"{a!r} é\"\n\
                for i in range(3):\n    print(i, '''\nlong''')  # note\n";
    let mut faults = 0;
    for (at, c) in code.char_indices() {
        let without = format!("{}{}", &code[..at], &code[at + c.len_utf8()..]);
        for torn in [&code[..at], &code[at..], &without] {
            if let Err(fault) = module(torn) {
                let slip = explain(torn, fault);
                assert!(
                    slip.offset <= torn.len() && !slip.message.is_empty(),
                    "{torn:?}"
                );
                faults += 1;
            }
        }
    }
    assert!(faults > 100, "{faults}");
}
