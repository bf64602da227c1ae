"""Every kind of syntax node that Python 3.11 has in a module, at least once."""

import math as m
from math import pi


@staticmethod
def plain(a: int, /, b=1, *rest, c, **others) -> int:
    global state
    state = [a + b, a - b, a * b, a / b, a % b, a**b, a @ b, a // b, a << b, a >> b, a | b, a ^ b, a & b]
    held = 0

    def inner():
        nonlocal held
        held += 1
        yield held
        yield from ()
        return

    assert a, "said"
    del rest
    return ~a, not a, +a, -a, inner


async def waits(things):
    async for thing in things:
        await thing
    async with things as one:
        pass
    return one


class Own(Exception):
    kept: int = 1


for i in range(3):
    if i == 0 and i != 1 or i < 1:
        continue
    elif i <= 1 or i > 2 or i >= 3 or i is None or i is not None or i in () or i not in ():
        break
while (n := m.floor(pi)) > 3:
    pass
with open("x") as file:
    try:
        raise Own
    except Own as error:
        pass
try:
    raise ExceptionGroup("g", [Own()])
except* Own:
    pass
match [1, {"k": 2}]:
    case [1, *others] | None:
        pass
    case {"k": 2}:
        pass
    case Own(kept=1) as whole:
        pass
first = lambda x: x if x else f"{x:>3}"
made = ([x for x in (1, 2)], {x for x in (1,)}, {x: x for x in (1,)}, (x for x in (1,)))
kept = {1: 2}, {1}, made[0][0:1], first(*made, x=1), file.name
