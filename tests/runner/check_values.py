"""Tests of the values counted in a private data set: `python3 check_values.py site-packages`.

Prints one line for each test and exits with 1 if one failed.
"""

import math
from typing import Any

import child
from harness import main, test

# isort: split
# Importable only after `harness` has set the path.
import pandas

from _countersign import rounded, values

assert child


def looked(data: Any, **patched: Any) -> tuple[set[float], list[dict[str, Any]]]:
    """The statistics over groups of a table or of plain data, and the bounds that were met."""
    bounds: list[dict[str, Any]] = []
    frames = [data] if isinstance(data, pandas.DataFrame) else values.records(data, pandas)
    before = {name: getattr(values, name) for name in patched}
    vars(values).update(patched)
    try:
        found = list(values.aggregates(frames, pandas, bounds))
    finally:
        vars(values).update(before)
    assert all(rows == values.SMALL for _, rows in found)
    return {float(text) for text, _ in found}, bounds


def towns(people: int = 20) -> pandas.DataFrame:
    """A table with two people in each town."""
    pay = [1000.0 + at * at for at in range(people)]
    return pandas.DataFrame({"town": [f"t{at // 2}" for at in range(people)], "pay": pay})


# The pay of the first town.
SUM = 2001.0


@test
def groups_are_looked_at_to_the_end_and_nothing_is_said() -> None:
    found, bounds = looked(towns())
    assert SUM in found and 1000.0 + 18**2 + 1000.0 + 19**2 in found
    assert bounds == []


@test
def a_table_without_numbers_or_groups_has_no_bounds() -> None:
    for frame in (
        pandas.DataFrame({"a": ["x", "y"]}),
        pandas.DataFrame({"a": [1, 2, 3]}),
        pandas.DataFrame({"a": [["x"], ["y"]]}),
        pandas.DataFrame(),
    ):
        assert looked(frame) == (set(), [])


@test
def a_wide_table_is_looked_at_too() -> None:
    wide = pandas.DataFrame(0, range(20), [f"c{at}" for at in range(500)])
    found, bounds = looked(wide.assign(**towns()))
    assert SUM in found and bounds == []


@test
def columns_of_many_values_are_not_grouped_by() -> None:
    found, bounds = looked(towns(), KINDS=9)
    assert not found and bounds == [{"bound": "kinds", "columns": 1, "most": 9}]
    found, bounds = looked(towns(), KINDS=10)
    assert SUM in found and bounds == []


@test
def columns_of_lists_are_not_grouped_by() -> None:
    frame = towns().assign(tags=[["a"]] * 20, home=[{"a": 1}] * 20)
    found, bounds = looked(frame)
    assert SUM in found and bounds == [{"bound": "lists", "columns": 2}]


@test
def only_the_columns_of_the_fewest_values_are_paired() -> None:
    # Six rows and more share a value of one column, two share a pair.
    people = range(60)
    frame = pandas.DataFrame({"a": [at // 20 for at in people], "b": [at // 2 % 10 for at in people]})
    frame["pay"] = [1000.0 + at * at for at in people]
    for most, is_found in ((2, True), (1, False)):
        found, bounds = looked(frame.astype({"a": str, "b": str}), PAIRED=most)
        assert (SUM in found) == is_found and bounds == []


@test
def numbers_are_bounded() -> None:
    all_of_them, _ = looked(towns())
    found, bounds = looked(towns(), NUMBERS=5)
    assert found < all_of_them and bounds == [{"bound": "numbers", "most": 5}]
    # A limit of exactly the existing count: nothing is left out.
    most = sum(
        1
        for group in values.groups(values.with_index(towns(), pandas), [1], math.inf, [])
        for _ in values.of_groups(values.with_index(towns(), pandas), group, [1])
    )
    assert looked(towns(), NUMBERS=most) == (all_of_them, [])


@test
def time_is_bounded() -> None:
    found, bounds = looked(towns(), SECONDS=-1)
    assert not found and bounds == [{"bound": "seconds", "most": -1}]
    # Reported once for any number of tables.
    rows = towns().to_dict("records")
    assert looked({"a": rows, "b": rows}, SECONDS=-1) == (found, bounds)


@test
def what_stands_beside_the_rows_is_grouped_by_too() -> None:
    frame = towns()
    for indexed in (
        frame.set_index("town"),
        frame.assign(land="x").set_index(["land", "town"]),
        frame.rename(columns={"town": 0, "pay": 0}).set_axis([0, 0], axis=1).rename_axis("0"),
    ):
        found, bounds = looked(indexed)
        assert SUM in found and bounds == [], indexed


@test
def every_list_of_records_is_looked_at_and_other_plain_data_is_said() -> None:
    rows = towns().to_dict("records")
    other = [{"town": row["town"], "pay": row["pay"] + 0.25} for row in rows]
    found, bounds = looked({"a": rows, "n": 1, "b": other})
    assert SUM in found and SUM + 0.5 in found and bounds == []
    shapeless: list[Any] = [[], [1, 2], {"a": {"b": 1}}, "text", 7, None, [{"a": 1}, 2], {"a": []}]
    for plain in shapeless:
        assert looked(plain) == (set(), [{"bound": "shape"}]), plain


@test
def numbers_made_of_single_values_are_few_and_tell_them_apart() -> None:
    def made(*numbers: float) -> set[float]:
        return set(rounded.of_numbers(dict.fromkeys(numbers, 1)))

    pay = made(51234.567, 48010.253, 60123.019, 47001.541)
    assert {51234.6, 51234.57, 51235, 51234, 48010.3, 60123, 47002} <= pay, pay
    # The lowest edges of `qcut` and `cut`, and the highest of `cut` to the other side.
    assert {47001.54, 47001.53, 47001.4, 47001.0, 46988.42, 46988.419, 46988.419522, 60136.14} <= pay, pay
    share = made(0.512345, 0.480103, 0.7)
    assert {51.23, 51.235, 51.2345, 48.01, 0.5123, 0.4801} <= share, share
    assert not share & {51.2, 51, 48, 0.51, 0.512, 70, 0.7}, share
    # Thousands of numbers that are close together: each rounded number would be somebody's.
    assert not made(*(at + 0.25 for at in range(1900, 9900))) & set(range(10_000))
    # But for one edge.
    assert made(*(at / 7 + 20_000 for at in range(5000))) & set(range(20_000, 21_000)) == {20_715}
    # Whole numbers of four digits, and numbers that many rows share, make nothing.
    assert not made(2023.4, 1999.7, 3100.2) & {2023, 2024, 1999, 2000, 3100}
    assert not set(rounded.of_numbers({51234.567: 5, 1.5: 9}))
    assert made(float("nan"), float("inf")) == made() == set()


@test
def numbers_are_made_of_the_numeric_columns_alone() -> None:
    frame = pandas.DataFrame(
        {"a": ["x", "y"], "b": [True, False], "c": [51234.567, 1.5], "d": [1j, 2j], "e": [None, 81234.567]}
    )
    assert {51234.6, 81234.6} <= set(rounded.of_frame(frame, pandas))
    assert not set(rounded.of_frame(frame[["a", "b", "d"]], pandas))


main()
