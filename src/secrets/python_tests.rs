use super::Python;
use crate::secrets::{Counts, Secrets};

fn kept(code: &str) -> String {
    Secrets::default()
        .redact_code(code, &mut Counts::new())
        .into_owned()
}

/// Each row: code whose other lines must stay, because they run, and what is kept of it.
#[test]
fn a_statement_never_becomes_a_mark() {
    let mut wrong = Vec::new();
    for (code, statement) in [
        (
            "password = \"df9['p7']*=1.5#\"\ndf9['p7']*=1.5#\n",
            "\ndf9['p7']*=1.5#",
        ),
        (
            "x = \"password=sal7*=1.05;q\"\nsal7*=1.05;q\n",
            "\nsal7*=1.05;q",
        ),
        ("password = 'r7=x3[::-1]'\nr7=x3[::-1]\n", "\nr7=x3[::-1]"),
        (
            "passwords=[\"p7k_to_csv\",\"z9q_x7\"]\np7k_to_csv = df.to_csv\np7k_to_csv(z9q_x7)\n",
            "\np7k_to_csv = df.to_csv\np7k_to_csv(z9q_x7)",
        ),
        (
            "token = 'zk7q3fPw81'\ndef zk7q3fPw81(): pass\n",
            "\ndef zk7q3fPw81(): pass",
        ),
        ("token = 'zk7q3fPw81'\ndf.zk7q3fPw81\n", "\ndf.zk7q3fPw81"),
        (
            "# password: rm9.drop(x3)!\nrm9.drop(x3)!=1\n",
            "\nrm9.drop(x3)!=1",
        ),
        ("password = lambda: 'x'\n", "password = lambda: "),
        ("pwd=~mask\n", "pwd=~mask"),
        (
            "password = '''\nq7.z9()#\n'''\nq7.z9()#\n",
            "\n'''\nq7.z9()#",
        ),
        ("password = \"it's q7x9zz\"\nq7x9zz = 1\n", "\nq7x9zz = 1"),
        (
            "password = \"Q9x8z7aB\" f\"{open('o.csv','w').write(str(rows))}\"\n",
            "{open('o.csv','w').write(str(rows))}",
        ),
        ("password = f'abc{exec(c)}def9'\n", "{exec(c)}"),
        ("x = f\"curl -u ana:{exec(c)} x\"\n", "{exec(c)}"),
        (
            "x = \"see password: 'x9[0].Qw5tR4(u8)'\"\ny = f'total {x9[0].Qw5tR4(u8)}'\n",
            "{x9[0].Qw5tR4(u8)}",
        ),
        (
            "k = f'''-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,{one(2)}\n{exec(c)}\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----'''\n",
            "{exec(c)}",
        ),
        // Names, whatever they are like.
        (
            "w0rk9Aa1, sub7Bb2x = a, b\npassword = w0rk9Aa1/sub7Bb2x\n",
            "password = w0rk9Aa1/sub7Bb2x",
        ),
        (
            "def Ev1lAaa0Qx(): pass\ntoken = Ev1lAaa0Qx+8\n",
            "token = Ev1lAaa0Qx+8",
        ),
        ("make_it9 = 1\npassword = make_it9\n", "password = make_it9"),
        // Operators act, names act by what they are bound to, prefixes make fields.
        (
            "from math import *\nprint((password := tau-pi/e))\n",
            "(password := tau-pi/e)",
        ),
        ("password = exec-eval\n", "password = exec-eval"),
        ("password = exec\npassword(c)\n", "password = exec\n"),
        (
            "x = kR9w-x2QzP7\ntoken = x9Kq2Lm8-y9Kq2Lm8\n",
            "token = x9Kq2Lm8-y9Kq2Lm8",
        ),
        (
            "globals()['wi'+'pe9'] = F()\npassword = wipe9/\"data.csv\"\n",
            "password = wipe9/\"",
        ),
        (
            "password = 12345678+1-f\"abcd{open(1)}\"\n",
            "+1-f\"abcd{open(1)}\"",
        ),
        (
            "db_password = f\"\\\"password: x9Kq2!{print('RAN2')}\"\n",
            "db_password = f\"\\\"",
        ),
        (
            "ｘ9Kq2Lm8WzQ4 = exec\npassword = x9Kq2Lm8WzQ4\n",
            "password = x9Kq2Lm8WzQ4",
        ),
        (
            "setattr(b,'ghp_'+'0123',exec)\nghp_0123456789abcdefghijklmnopqrstuvwxyz('print(6)')\n",
            "\nghp_0123456789abcdefghijklmnopqrstuvwxyz('",
        ),
        (
            "password = 0x65786563\nexec(password.to_bytes(4))\n",
            "0x65786563",
        ),
        ("password = 12345678.5\n", "12345678.5"),
        // Escapes stay whole, and so does what they keep in a string.
        (
            "x = 'mysql -px9Kq2!\\''; open('o','w') # '\n",
            "\\''; open('o','w') # '",
        ),
        (
            "x = \"curl -u ana:x9Kq2!\\\"; os.system(1) # \"\n",
            "\\\"; os.system(1) # \"",
        ),
        (
            "password = 'x9Kq2!\\\n'; print('RAN4') # '\n",
            "\\\n'; print('RAN4') # '",
        ),
        (
            "password = 'x9Kq2!\\\r\n'; print('RAN4') # '\n",
            "\\\r\n'; print('RAN4') # '",
        ),
        (
            "x = f\"curl -u ana:x9Kq2!\\N{DIGIT ONE}{open(1)}\"\n",
            "{open(1)}",
        ),
        ("x = rf\"curl -u ana:x9Kq2!\\N{open(2)}\"\n", "{open(2)}"),
        ("x = f\"curl -u ana:x9Kq2!\\{open(1)}\"\n", "{open(1)}"),
        (
            "# -----BEGIN RSA PRIVATE KEY-----\n# MIIEpAIBAAKCAQEA7\nrun9(1)\n# MIIEpAIBAAKCAQEA8\n# -----END RSA PRIVATE KEY-----\n",
            "\nrun9(1)\n# ",
        ),
    ] {
        let kept = kept(code);
        if !kept.contains(statement) {
            wrong.push(format!("{code}\n{kept}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_strings_and_comments_say_of_a_value_goes() {
    for (code, gone) in [
        (
            "password = 'Tannenzweig-58!k'\nx = f'{a} Tannenzweig-58!k'\n",
            "Tannenzweig",
        ),
        (
            "password = 'Tannenzweig-58!k'\n# it is Tannenzweig-58!k\n",
            "Tannenzweig",
        ),
        (
            "password = 'Tannenzweig-58!k'\nx = '''\nTannenzweig-58!k\n'''\n",
            "Tannenzweig",
        ),
        (
            "password = 'a\\'Tannen58!k'\nb = r'Tannen58!k'\n",
            "password = 'a",
        ),
        ("password = 83451297\n", "83451297"),
        // A name that nothing binds.
        (
            "API_KEY=wsy0R2r2QqzYTveQCqOpy3HJ\n",
            "wsy0R2r2QqzYTveQCqOpy3HJ",
        ),
        (
            "password = 'Tannenzweig-58!k'\nx = f'{a(\"Tannenzweig-58!k\")}'\n",
            "Tannenzweig",
        ),
        ("x = 1 # password: Tannenzweig-58!k\n", "Tannenzweig"),
        // No Python: nothing of it runs.
        (
            "export API_KEY=wsy0R2r2QqzYTveQCqOpy3HJ\n",
            "wsy0R2r2QqzYTveQCqOpy3HJ",
        ),
        ("password = $x9Kq2Lm8Wz\n", "x9Kq2Lm8Wz"),
        ("a = 'b'\nthe password = x9Kq2-Lm8Wz\n", "x9Kq2-Lm8Wz"),
        (
            "password = 'Tannenzweig-58!k'\nx = Tannenzweig-58!k '\n",
            "Tannenzweig",
        ),
    ] {
        let kept = kept(code);
        assert!(!kept.contains(gone), "{code}\n{kept}");
    }
}

#[test]
fn strings_end_where_python_ends_them() {
    for (code, said) in [
        ("a = 'b' # 'c", vec!["b", " 'c"]),
        ("'''a'b\n'''+\"c\\\"d\"", vec!["a'b\n", "c\\\"d"]),
        ("''+'a'", vec!["", "a"]),
        ("r'a\\'b' '#'", vec!["a\\'b", "#"]),
        ("'a\\\r\nb'#c\rd", vec!["a\\\r\nb", "c"]),
        // Fields of f-strings run.
        ("f'a{b}c'", vec!["a", "c"]),
        ("rF'{{a}}{b!r:>{w}}c'", vec!["{{a}}", "c"]),
        ("f'{x[\"a\"]}' 'b'", vec!["", "", "b"]),
        ("f\"{x:'>9}{y}'\"", vec!["", "", "'"]),
        ("f'''{(lambda: {1: 2})()}a'''", vec!["", "a"]),
        ("f'a{b'", vec!["a", ""]),
        ("if'a{b}': pass", vec!["a", ""]),
    ] {
        let found = Python::of(code).unwrap();
        let found: Vec<_> = found.said.text.iter().map(|at| &code[at.clone()]).collect();
        assert_eq!(found, said, "{code}");
    }
    for code in ["'a\n'", "'''a''", "'a\\", "\"a\r\""] {
        assert!(Python::of(code).is_none(), "{code}");
    }
}
