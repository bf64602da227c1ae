import pandas as pd

# Loan amortisation schedule with real dates
def schedule(principal, annual_rate, months, first="2024-01-31"):
    r = annual_rate / 12
    payment = principal * r / (1 - (1 + r) ** -months)
    dates = pd.date_range(first, periods=months, freq="ME")
    rows, balance = [], principal
    for d in dates:
        interest = balance * r
        capital = payment - interest
        balance = max(balance - capital, 0.0)
        rows.append((d, payment, interest, capital, balance))
    return pd.DataFrame(rows, columns=["date", "payment", "interest", "capital", "balance"]).set_index("date")

s = schedule(20_000, 0.06, 24)
print(s.head(3).round(2))
print(s.tail(2).round(2))
print("By year:")
print(s.groupby(s.index.year)[["interest", "capital"]].sum().round(2))
print(f"Total interest: {s['interest'].sum():,.2f}")

# Actual/365 accrual between the dates
days = s.index.to_series().diff().dt.days.fillna(31).astype(int)
accrued = (s["balance"].shift(fill_value=20_000) * 0.06 * days / 365).round(2)
print("Act/365 total:", accrued.sum().round(2), "| longest month:", days.max())
half = s.index[s["balance"] < 10_000][0]
print("Half repaid by", half.strftime("%B %Y"), f"({half.quarter=})")
print(s.loc["2025-03", "balance"].round(2).tolist())
