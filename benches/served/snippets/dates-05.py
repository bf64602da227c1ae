import calendar
from collections import Counter
from datetime import date

cal = calendar.TextCalendar(firstweekday=calendar.MONDAY)
print(cal.formatmonth(2024, 2))

print("Leap years:", [y for y in range(1996, 2026) if calendar.isleap(y)])
print("Feb 2024 (first weekday, days):", calendar.monthrange(2024, 2))

# Friday the 13th
fridays = [date(y, m, 13) for y in (2023, 2024, 2025, 2026) for m in range(1, 13) if date(y, m, 13).weekday() == calendar.FRIDAY]
for d in fridays:
    print(d.strftime("%A %d %B %Y"))
print(Counter(d.year for d in fridays))

def nth_weekday(year, month, weekday, n):
    """n-th weekday of a month; negative n counts from the end."""
    days = [w[weekday] for w in calendar.monthcalendar(year, month) if w[weekday]]
    return date(year, month, days[n - 1 if n > 0 else n])

print("Thanksgiving 2024:", nth_weekday(2024, 11, calendar.THURSDAY, 4))
print("Memorial Day 2024:", nth_weekday(2024, 5, calendar.MONDAY, -1))
print([calendar.month_abbr[m] for m in range(1, 13) if calendar.monthrange(2023, m)[1] == 30])
