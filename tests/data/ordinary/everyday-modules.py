# leaves: a.txt b.txt
import difflib
import html
import os
import secrets
import sys
from timeit import default_timer as timer
from dateutil import parser
from dateutil.relativedelta import relativedelta, MO
from dateutil.rrule import rrule, MONTHLY
start = timer()
day = parser.parse("2024-02-29")
print(day + relativedelta(years=1), day + relativedelta(weekday=MO(1)))
print([d.date().isoformat() for d in rrule(MONTHLY, count=3, dtstart=day)])
print(difflib.get_close_matches("appel", ["apple", "peach"]), html.escape("<a>"))
print(len(secrets.token_hex(4)), os.getenv("NO_SUCH_VARIABLE", "none"), sys.getsizeof(0) > 0)
print(timer() >= start)
import glob
from fnmatch import fnmatch
for name in ["b", "a"]:
    with open(f"{name}.txt", "w") as f:
        f.write(name)
print(sorted(glob.glob("*.txt")), fnmatch("a.txt", "*.txt"))
