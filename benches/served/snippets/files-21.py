import csv
import os
import tempfile
from typing import NamedTuple


class Reading(NamedTuple):
    station: str
    day: int
    rain_mm: float


def parse(row: list) -> Reading:
    station, day, rain = row
    return Reading(station.strip(), int(day), float(rain))


raw = [["  OSL", "1", "3.2"], ["OSL", "2", "0.0"], ["BER", "1", "12.75"], ["BER ", "2", "n/a"], ["TRO", "1"]]

fd, tmp_path = tempfile.mkstemp(suffix=".csv")
try:
    with os.fdopen(fd, "w", newline="") as fh:
        csv.writer(fh, delimiter=";", quoting=csv.QUOTE_ALL).writerows(raw)

    good, bad = [], []
    with open(tmp_path, newline="") as fh:
        for i, row in enumerate(csv.reader(fh, delimiter=";"), 1):
            try:
                good.append(parse(row))
            except (ValueError, TypeError) as e:
                bad.append((i, type(e).__name__, str(e)))
finally:
    os.unlink(tmp_path)

print(*good, sep="\n")
for line, kind, msg in bad:
    print(f"line {line}: {kind}: {msg}")
print("wettest:", max(good, key=lambda r: r.rain_mm)._asdict())
print("exists after cleanup?", os.path.exists(tmp_path))
