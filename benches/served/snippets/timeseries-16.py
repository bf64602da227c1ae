import numpy as np
import pandas as pd
import plotly.graph_objects as go

np.random.seed(31)
dates = pd.date_range("2023-06-01", periods=100, freq="D")
df = pd.DataFrame({"temp": 20 + 6 * np.sin(np.arange(100) / 12) + np.random.normal(0, 1.5, 100)}, index=dates)
df["ewm"] = df["temp"].ewm(span=10, adjust=False).mean()
df["upper"] = df["ewm"] + 2 * df["temp"].ewm(span=10).std()
df["lower"] = df["ewm"] - 2 * df["temp"].ewm(span=10).std()

fig = go.Figure()
fig.add_trace(go.Scatter(x=df.index, y=df["upper"], line=dict(width=0), showlegend=False))
fig.add_trace(go.Scatter(x=df.index, y=df["lower"], fill="tonexty", line=dict(width=0), name="band"))
fig.add_trace(go.Scatter(x=df.index, y=df["temp"], mode="markers", name="temperature"))
fig.add_trace(go.Scatter(x=df.index, y=df["ewm"], mode="lines", name="EWM"))
fig.update_layout(title="Temperature with EWM band", xaxis_title="Date", yaxis_title="°C", template="plotly_white")
fig.write_html("temperature.html", include_plotlyjs="cdn")

outside = df[(df["temp"] > df["upper"]) | (df["temp"] < df["lower"])]
print(f"{len(outside)} points outside the band")
print(df.resample("MS").mean().round(2))
fig
