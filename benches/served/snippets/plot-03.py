import numpy as np
import pandas as pd
import plotly.express as px

rng = np.random.default_rng(1)
years = np.arange(2015, 2025)
df = pd.DataFrame([
    {"country": c, "year": int(y), "gdp": base * (1 + g) ** (y - 2015) + rng.normal(0, 5)}
    for c, base, g in [("Atlantis", 300, 0.03), ("Lemuria", 250, 0.05), ("Mu", 400, 0.01)]
    for y in years
])

fig = px.line(df, x="year", y="gdp", color="country", markers=True,
              title="GDP by country", labels={"gdp": "GDP (bn)", "year": "Year"})
fig.update_layout(hovermode="x unified", legend_title_text="")

last = df[df["year"] == 2024].set_index("country")["gdp"]
print("GDP in 2024:")
print(last.round(1).to_string())
print(f"Traces: {len(fig.data)}, title: {fig.layout.title.text}")

fig
