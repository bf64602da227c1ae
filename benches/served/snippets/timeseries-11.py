from datetime import date, datetime, timedelta
import calendar

# Project schedule calculations with the standard library only
HOLIDAYS = {date(2024, 5, 1), date(2024, 5, 9), date(2024, 5, 20), date(2024, 5, 30)}


def is_workday(d):
    return d.weekday() < 5 and d not in HOLIDAYS


def add_workdays(start, n):
    current = start
    while n > 0:
        current += timedelta(days=1)
        if is_workday(current):
            n -= 1
    return current


tasks = [("Design", 5), ("Build", 12), ("Test", 6), ("Release", 1)]
start = datetime.strptime("2024-04-29", "%Y-%m-%d").date()

print(f"{'Task':<10}{'Start':<14}{'End':<14}{'Days':>5}")
for name, days in tasks:
    end = add_workdays(start, days - 1) if days > 1 else start
    print(f"{name:<10}{start:%a %d %b}    {end:%a %d %b}    {days:>5}")
    start = add_workdays(end, 1)

days_in_may = calendar.monthrange(2024, 5)[1]
work = sum(is_workday(date(2024, 5, d)) for d in range(1, days_in_may + 1))
print(f"\nWorkdays in May 2024: {work} of {days_in_may}")
print(f"ISO week of release: {end.isocalendar().week}")
