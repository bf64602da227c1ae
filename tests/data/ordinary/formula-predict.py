import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

df = pd.DataFrame({"x": np.arange(1.0, 31.0), "g": list("abc") * 10})
df["y"] = 2 * df.x + np.sin(df.x)
df["won"] = (np.cos(df.x) > 0).astype(int)


def squared(v):
    return v**2


def forecast(data):
    scale = 10
    fit = smf.glm("y ~ squared(x / scale)", data=data).fit()
    return fit.predict(data.head(2))


linear = smf.ols("y ~ x + C(g, Treatment('b')) + np.log1p(x)", data=df).fit()
print(linear.predict(df.head(3)).round(3).tolist())
print(linear.predict({"x": [1.0, 2.0], "g": ["a", "b"]}).round(3).tolist())
print(linear.get_prediction(df.head(2)).summary_frame().round(2))
logit = smf.logit("won ~ x", data=df).fit(disp=False)
print(((logit.predict(df) > 0.5).astype(int) == df.won).mean())
print(smf.ols("y ~ squared(x)", data=df).fit().predict(df.head(2)).round(3).tolist())
print(forecast(df).round(3).tolist())
