from __future__ import annotations
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

class Kind(Enum):
    A = auto()
    B = auto()

class Point(NamedTuple):
    x: int
    y: int = 0

@dataclass
class Item:
    name: str
    kind: Kind = Kind.A
    tags: list[str] = field(default_factory=list)

print(Item("n", Kind.B, ["t"]), Point(1), Kind.A.name)
