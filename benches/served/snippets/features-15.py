import numpy as np
import pandas as pd
from scipy import stats
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, RobustScaler, MinMaxScaler

rng = np.random.RandomState(0)
raw = pd.DataFrame({
    "lognormal": rng.lognormal(mean=1.0, sigma=0.8, size=1000),
    "exponential": rng.exponential(2.0, size=1000),
    "bimodal": np.concatenate([rng.normal(-3, 1, 500), rng.normal(3, 1, 500)]),
})

transformers = {
    "raw": None,
    "yeo-johnson": PowerTransformer(method="yeo-johnson"),
    "quantile": QuantileTransformer(output_distribution="normal", n_quantiles=200, random_state=0),
    "robust": RobustScaler(),
    "minmax": MinMaxScaler((-1, 1)),
}

rows = []
for name, tr in transformers.items():
    values = raw.to_numpy() if tr is None else tr.fit_transform(raw)
    for col, v in zip(raw.columns, values.T):
        rows.append((col, name, stats.skew(v), stats.kurtosis(v)))

table = pd.DataFrame(rows, columns=["column", "transform", "skew", "kurtosis"])
print(table.pivot(index="column", columns="transform", values="skew")[list(transformers)].round(2))
best = table.loc[table.groupby("column")["skew"].apply(lambda s: s.abs().idxmin())]
print(best.round(3).to_string(index=False))
