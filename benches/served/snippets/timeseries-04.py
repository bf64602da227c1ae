import numpy as np
import pandas as pd

rng = np.random.default_rng(9)
# Business days only
bdays = pd.bdate_range("2024-01-01", "2024-06-28")
returns = rng.normal(0.0005, 0.012, len(bdays))
price = pd.Series(100 * np.exp(np.cumsum(returns)), index=bdays, name="close")

df = price.to_frame()
df["ret"] = df["close"].pct_change()
df["sma_10"] = df["close"].rolling(10).mean()
df["sma_30"] = df["close"].rolling(30).mean()
df["vol_20"] = df["ret"].rolling(20).std() * np.sqrt(252)
df["signal"] = np.sign(df["sma_10"] - df["sma_30"])

crosses = df[df["signal"].diff().abs() == 2]
for day, row in crosses.iterrows():
    kind = "golden cross" if row["signal"] > 0 else "death cross"
    print(f"{day.date()} {kind} at {row['close']:.2f}")

running_max = df["close"].cummax()
drawdown = df["close"] / running_max - 1
print(f"Max drawdown: {drawdown.min():.2%} on {drawdown.idxmin().date()}")
print(f"Annualised volatility: {df['ret'].std() * 252 ** 0.5:.2%}")
ohlc = df["close"].resample("ME").ohlc().round(2)
print(ohlc)
