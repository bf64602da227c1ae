import datetime
import math

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

df = pd.DataFrame(
    {
        "a": [1.0, 2.0, 3.0, 4.0, 5.0],
        "x": [1.0, 3.0, 2.0, 5.0, 4.0],
        "y": [2.0, 5.0, 1.0, 3.0, 6.0],
        "g": list("aabba"),
        "d": pd.to_datetime(["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01", "2024-05-01"]),
    }
)


class Settings:
    lim = 2

    def least(self, n=1):
        return n


def plus(v, k=1):
    return v + k


cfg, th, numbers = Settings(), {"q": 2}, [1, 2, 3]
for text in (
    "a > @th['q'] and g.str[0] == 'a'",
    "a > @numbers[0] and a > @df['a'].iloc[0] and a < @df.a[4]",
    "a > @cfg.lim or a > @cfg.least(1) or a > @plus(1, k=2)",
    "d > @pd.Timestamp('2024-02-01') and d > @datetime.datetime(2024, 1, 5)",
    "d.dt.month.isin([1, 2]) or g.str.contains('b', na=False)",
    "a > a.groupby(g).transform('mean') and a > a.shift(1).fillna(0)",
    "a.apply(@plus) > 2 and a.map(@plus) > 2 and a.pipe(@plus) > 2",
    "g.isin(@th.keys()) or index > @math.floor(1.5)",
):
    print(text, df.query(text).index.tolist())
for column in ("a", "x"):
    df = df.eval(f"{column}_part = {column} / {column}.sum()")
    print(df.query(f"{column} > {df[column].mean()} and {column} < {np.max([9, 8])}").shape)


def inside():
    limits = {"z": 2}
    return df.query("a > @limits['z']").shape, pd.eval("df.a[0] + df.x.max()")


print(inside())
print(df.eval("\nb = a * 2\nc = b > @df.a.mean()\n").shape)
for formula in (
    "y ~ np.log(a) + C(g)",
    "y ~ C(g, Treatment(reference='b')) + x.clip(0, 3)",
    "np.log1p(y) ~ standardize(x) + np.where(a > 2, 1, 0)",
    "y ~ plus(x) + I((g == 'a').astype(int)) + np.vectorize(plus)(a)",
):
    fit = smf.ols(formula, data=df).fit()
    print(formula, fit.params.round(3).tolist(), round(float(fit.predict(df).sum()), 3))
print(df.groupby("g").agg({"a": ["mean", "nunique"], "x": "last"}).shape, df["a"].agg("to_list"))
m = df[["a"]].merge(pd.DataFrame({"a": [2.0, 9.0]}), how="outer", indicator=True)
print(m[m._merge == "both"].shape)
