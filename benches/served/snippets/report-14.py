import contextlib
import io
import re

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

# Collect printed output into a report file
rng = np.random.default_rng(14)
df = pd.DataFrame({"temp": rng.uniform(10, 35, 60)})
df["icecream"] = 20 + 3.1 * df["temp"] + rng.normal(0, 8, 60)

buffer = io.StringIO()
with contextlib.redirect_stdout(buffer):
    print("1. DATA")
    print(df.describe().round(2))
    print("\n2. MODEL")
    fit = smf.ols("icecream ~ temp", data=df).fit()
    print(fit.summary().tables[1])
    print(f"R2 = {fit.rsquared:.3f}")
    print("\n3. FORECAST")
    new = pd.DataFrame({"temp": [15, 25, 35]})
    forecast = fit.get_prediction(new).summary_frame(alpha=0.1)
    print(pd.concat([new, forecast[["mean", "obs_ci_lower", "obs_ci_upper"]]], axis=1).round(1))

text = buffer.getvalue()
with open("analysis.txt", "w") as fh:
    fh.write(text)
print(text)
print("Sections:", re.findall(r"^\d\. (\w+)", text, flags=re.M))
