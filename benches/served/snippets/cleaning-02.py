import re
from typing import Optional

phones = [
    "(555) 123-4567",
    "555.987.6543",
    "+1 555 222 3333",
    "5551234567 ext. 89",
    "123-456",
    "call me",
    "1-555-444-5555 x12",
]

PHONE_RE = re.compile(
    r"""
    ^\s*(?:\+?1[\s.-]*)?          # optional country code
    \(?(?P<area>\d{3})\)?[\s.-]*  # area code
    (?P<pre>\d{3})[\s.-]*
    (?P<line>\d{4})
    (?:\s*(?:x|ext\.?)\s*(?P<ext>\d+))?\s*$
    """,
    re.VERBOSE | re.IGNORECASE,
)


def normalise(phone: str) -> Optional[str]:
    if (m := PHONE_RE.match(phone)) is None:
        return None
    parts = m.groupdict()
    base = f"+1-{parts['area']}-{parts['pre']}-{parts['line']}"
    return base + (f"x{parts['ext']}" if parts["ext"] else "")


for p in phones:
    print(f"{p:<22} -> {normalise(p) or 'INVALID'}")

valid = [n for n in map(normalise, phones) if n]
print(f"{len(valid)}/{len(phones)} valid")
