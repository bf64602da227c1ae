import plotly.graph_objects as go
from plotly.subplots import make_subplots
import pandas as pd
import numpy as np

rng = np.random.default_rng(12)
dates = pd.bdate_range("2024-01-02", periods=60)
close = 100 + np.cumsum(rng.normal(0, 1.2, 60))
open_ = np.r_[100, close[:-1]]
df = pd.DataFrame({
    "open": open_, "close": close,
    "high": np.maximum(open_, close) + rng.uniform(0, 1, 60),
    "low": np.minimum(open_, close) - rng.uniform(0, 1, 60),
    "volume": rng.integers(1_000, 5_000, 60),
}, index=dates)

fig = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.75, 0.25], vertical_spacing=0.03)
fig.add_trace(go.Candlestick(x=df.index, open=df.open, high=df.high, low=df.low, close=df.close, name="OHLC"), row=1, col=1)
fig.add_trace(go.Scatter(x=df.index, y=df.close.rolling(10).mean(), name="SMA 10"), row=1, col=1)
colors = np.where(df["close"] >= df["open"], "green", "red")
fig.add_trace(go.Bar(x=df.index, y=df.volume, marker_color=colors, name="Volume"), row=2, col=1)
fig.update_layout(title_text="Simulated share price", xaxis_rangeslider_visible=False, height=600)
fig.write_html("candles.html", include_plotlyjs=False)

print(f"Up days: {(df.close > df.open).sum()}, down days: {(df.close < df.open).sum()}")
print(f"Range: {df.low.min():.2f} - {df.high.max():.2f}")
print([type(t).__name__ for t in fig.data])
