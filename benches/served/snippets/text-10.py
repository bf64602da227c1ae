import re
from dataclasses import dataclass
from typing import Iterator


@dataclass(frozen=True)
class Token:
    kind: str
    value: str
    pos: int


SPEC = [("NUMBER", r"\d+(\.\d+)?"), ("NAME", r"[A-Za-z_]\w*"), ("OP", r"[+\-*/=()]"), ("SKIP", r"\s+"), ("BAD", r".")]
MASTER = re.compile("|".join(f"(?P<{k}>{p})" for k, p in SPEC))


def tokenize(src: str) -> Iterator[Token]:
    for m in MASTER.finditer(src):
        kind = m.lastgroup
        if kind == "SKIP":
            continue
        if kind == "BAD":
            raise SyntaxError(f"unexpected {m.group()!r} at {m.start()}")
        yield Token(kind, m.group(), m.start())


for expr in ["margin = (price - cost) / price", "x = 3 * 4.5", "y = 2 $ 3"]:
    try:
        tokens = list(tokenize(expr))
        print(f"{expr:<35} {len(tokens)} tokens:", " ".join(f"{t.kind}:{t.value}" for t in tokens))
    except SyntaxError as err:
        print(f"{expr:<35} ERROR {err}")
