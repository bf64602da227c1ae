import numpy as np
import pandas as pd
import plotly.express as px
from sklearn.cluster import KMeans
from sklearn.preprocessing import MinMaxScaler

rng = np.random.default_rng(14)
df = pd.DataFrame({
    "income": np.r_[rng.normal(30, 4, 50), rng.normal(60, 6, 50), rng.normal(90, 8, 50)],
    "spending": np.r_[rng.normal(70, 6, 50), rng.normal(40, 6, 50), rng.normal(75, 8, 50)],
    "age": rng.integers(20, 70, 150),
})
X = MinMaxScaler().fit_transform(df[["income", "spending"]])
labels = KMeans(n_clusters=3, n_init=10, random_state=3).fit_predict(X)

# Name clusters by mean income
order = df.groupby(labels)["income"].mean().rank().astype(int)
df["segment"] = pd.Series(labels).map(order).map({1: "low", 2: "middle", 3: "high"})

print(df.groupby("segment").agg(n=("age", "size"), income=("income", "mean"), spending=("spending", "mean")).round(1))

fig = px.scatter(df, x="income", y="spending", color="segment", size="age", hover_data=["age"],
                 title="Customer segments", category_orders={"segment": ["low", "middle", "high"]})
fig.update_traces(marker=dict(opacity=0.7))
print("Traces:", [t.name for t in fig.data])
fig
