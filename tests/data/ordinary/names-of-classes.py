import sys
from dataclasses import dataclass


class Shape:
    def __init__(self, size=1):
        self.size = size

    def __repr__(self):
        return f"{self.__class__.__name__}({self.size})"

    def __eq__(self, other):
        if self.__class__ is not other.__class__:
            return NotImplemented
        return isinstance(other, self.__class__) and self.size == other.size

    def grown(self):
        return self.__class__(self.size + 1)


class Square(Shape):
    pass


@dataclass
class Point:
    x: int


def area(shape):
    return shape.size**2


def numbers():
    yield 1


print(Square(2), Square(2).grown(), Square(2) == Square(2), Square(1) == Shape(1))
print(Point(1).__class__.__name__, type(Point(1)).__name__)
try:
    1 / 0
except Exception as e:
    print(e.__class__.__name__, type(e).__name__)
print(type(area), type(area).__name__, type(len), type(numbers()), type(None), type(...), type({}.keys()))
print(type(area) is type(numbers), type(area) == type(len), isinstance(numbers, type(area)), isinstance(3, type(area)))
print(type(type(area)), type(type(area)) is type)
print([type(v).__name__ for v in (1, "a", None, area, print, [].append, lambda: 1, [].__class__.__name__)])


def main():
    print("done")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
