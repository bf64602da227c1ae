import numpy as np
import pandas as pd

# Slowly changing exchange rates: join by validity interval
rates = pd.DataFrame({
    "currency": ["EUR", "EUR", "GBP", "GBP"],
    "valid_from": pd.to_datetime(["2024-01-01", "2024-03-01", "2024-01-01", "2024-02-15"]),
    "valid_to": pd.to_datetime(["2024-02-29", "2024-12-31", "2024-02-14", "2024-12-31"]),
    "rate": [1.09, 1.07, 1.27, 1.25],
})
rng = np.random.default_rng(6)
payments = pd.DataFrame({
    "payment_id": range(1, 9),
    "currency": rng.choice(["EUR", "GBP"], 8),
    "date": pd.Timestamp("2024-01-10") + pd.to_timedelta(rng.integers(0, 100, 8), unit="D"),
    "amount": rng.uniform(50, 500, 8).round(2),
})

joined = payments.merge(rates, on="currency")
joined = joined[(joined["date"] >= joined["valid_from"]) & (joined["date"] <= joined["valid_to"])]
joined["usd"] = (joined["amount"] * joined["rate"]).round(2)

out = joined.sort_values("payment_id")[["payment_id", "date", "currency", "amount", "rate", "usd"]]
print(out.to_string(index=False))
print(f"Total USD: {out['usd'].sum():,.2f}")
if len(out) != len(payments):
    print("WARNING: some payments were not matched")
