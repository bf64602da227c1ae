import numpy as np
import pandas as pd

# Kaplan-Meier estimator from scratch
rng = np.random.default_rng(44)

def make_group(scale, n):
    event = rng.exponential(scale, n)
    censor = rng.uniform(0, 30, n)
    return pd.DataFrame({"time": np.minimum(event, censor).round(1), "event": (event <= censor).astype(int)})

def kaplan_meier(df):
    g = df.groupby("time")["event"].agg(deaths="sum", total="count").sort_index()
    g["at_risk"] = g["total"][::-1].cumsum()
    g["surv"] = (1 - g["deaths"] / g["at_risk"]).cumprod()
    with np.errstate(divide="ignore", invalid="ignore"):
        term = g["deaths"] / (g["at_risk"] * (g["at_risk"] - g["deaths"]))
    g["se"] = g["surv"] * np.sqrt(term.replace([np.inf, np.nan], 0).cumsum())
    return g

groups = {"drug": make_group(18, 60), "placebo": make_group(9, 60)}
for name, df in groups.items():
    km = kaplan_meier(df)
    below = km.index[km["surv"] <= 0.5]
    median = below[0] if len(below) else float("nan")
    print(f"{name}: events={df['event'].sum()} censored={(1 - df['event']).sum()} median={median}")
    for t in (5, 10, 20):
        s = km.loc[:t].iloc[-1]
        print(f"   S({t:>2}) = {s['surv']:.3f} ± {1.96 * s['se']:.3f}")
