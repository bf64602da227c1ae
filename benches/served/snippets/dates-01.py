from datetime import date, datetime, timedelta

# Age and anniversary helpers
def age_on(birth: date, day: date) -> int:
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))

def next_birthday(birth: date, today: date) -> date:
    for year in (today.year, today.year + 1):
        try:
            candidate = birth.replace(year=year)
        except ValueError:  # 29 February
            candidate = date(year, 3, 1)
        if candidate >= today:
            return candidate

today = date(2024, 5, 17)
people = {"Ann": date(1990, 5, 18), "Leap": date(1996, 2, 29), "Zed": date(2001, 5, 17)}

for name, b in people.items():
    nb = next_birthday(b, today)
    print(f"{name:<5} age {age_on(b, today)}, next birthday {nb:%a %d %b %Y} in {(nb - today).days} days")

deadline = datetime(2024, 12, 31, 23, 59, 59)
left = deadline - datetime(2024, 5, 17, 8, 30)
hours, rem = divmod(left.seconds, 3600)
print(f"{left.days}d {hours}h {rem // 60}m left", left.total_seconds())
print(date.fromisocalendar(2024, 20, 5) == today, today.isocalendar()[:2], today.toordinal())
print([str(today + timedelta(weeks=w)) for w in range(3)])
