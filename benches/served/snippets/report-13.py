import pandas as pd
import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

# Dashboard in a single plotly figure
rng = np.random.default_rng(52)
days = pd.date_range("2024-03-01", periods=31)
df = pd.DataFrame({"visits": rng.poisson(900, 31), "orders": rng.poisson(40, 31)}, index=days)
df["conv"] = df["orders"] / df["visits"]

dash = make_subplots(
    rows=2, cols=2,
    specs=[[{"type": "indicator"}, {"type": "domain"}], [{"type": "xy", "colspan": 2}, None]],
    subplot_titles=("", "Device share", "Daily visits"),
)
week, prev = df["orders"].iloc[-7:].sum(), df["orders"].iloc[-14:-7].sum()
dash.add_trace(go.Indicator(mode="number+delta", value=int(week), delta={"reference": int(prev)}, title={"text": "Orders"}), 1, 1)
dash.add_trace(go.Pie(labels=["mobile", "desktop", "tablet"], values=[61, 33, 6], hole=0.5), 1, 2)
dash.add_trace(go.Bar(x=df.index, y=df["visits"], marker_color="teal", name="visits"), 2, 1)
dash.update_layout(height=700, title="March dashboard", showlegend=False)
dash.write_html("dashboard.html", include_plotlyjs="cdn", full_html=True)

print(f"Orders last 7 days: {week} ({week - prev:+d} vs. previous week)")
print(f"Conversion: {df['orders'].sum() / df['visits'].sum():.2%}")
print(df.resample("W").agg({"visits": "sum", "orders": "sum", "conv": "mean"}).round(3))
dash
