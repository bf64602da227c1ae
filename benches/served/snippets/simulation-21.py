import plotly.graph_objects as go
import numpy as np
import pandas as pd

# Brownian bridge bands, saved as an interactive chart
rng = np.random.default_rng(909)
t = np.linspace(0, 1, 101)
dW = rng.normal(0, np.sqrt(t[1] - t[0]), size=(2000, 100))
W = np.concatenate([np.zeros((2000, 1)), dW.cumsum(axis=1)], axis=1)
bridge = W - t * W[:, [-1]]

bands = pd.DataFrame(
    np.percentile(bridge, [5, 25, 50, 75, 95], axis=0).T,
    columns=["p05", "p25", "p50", "p75", "p95"],
    index=pd.Index(t, name="t"),
)
print(bands.iloc[::20].round(3))
print("Variance at t=0.5:", bridge[:, 50].var().round(3), "theory 0.25")

max_abs = np.abs(bridge).max(axis=1)
print("Kolmogorov 95% quantile:", np.quantile(max_abs, 0.95).round(3))

fig = go.Figure()
for col, dash in [("p05", "dot"), ("p50", "solid"), ("p95", "dot")]:
    fig.add_trace(go.Scatter(x=bands.index, y=bands[col], name=col, line=dict(dash=dash)))
fig.update_layout(title="Brownian bridge", xaxis_title="t", template="plotly_white")
fig.write_html("bridge.html", include_plotlyjs="cdn")
print("traces:", [tr.name for tr in fig.data], "| title:", fig.layout.title.text)
