import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import TimeSeriesSplit
from sklearn.metrics import mean_absolute_percentage_error


def make_features(s: pd.Series, lags=(1, 2, 7)) -> pd.DataFrame:
    df = pd.DataFrame({"y": s})
    for lag in lags:
        df[f"lag_{lag}"] = s.shift(lag)
    df["dow"] = s.index.dayofweek
    df["roll_7"] = s.shift(1).rolling(7).mean()
    return df.dropna()


rng = np.random.default_rng(0)
idx = pd.date_range("2023-01-01", periods=300, freq="D")
demand = 200 + 30 * (idx.dayofweek < 5) + 0.1 * np.arange(300) + rng.normal(0, 6, 300)
data = make_features(pd.Series(demand, index=idx))
X, y = data.drop(columns="y"), data["y"]

scores = []
for fold, (tr, te) in enumerate(TimeSeriesSplit(n_splits=4).split(X), 1):
    rf = RandomForestRegressor(n_estimators=40, random_state=0).fit(X.iloc[tr], y.iloc[tr])
    mape = mean_absolute_percentage_error(y.iloc[te], rf.predict(X.iloc[te]))
    scores.append(mape)
    print(f"Fold {fold}: {X.index[te[0]].date()} to {X.index[te[-1]].date()}  MAPE={mape:.2%}")

print(f"Mean MAPE: {np.mean(scores):.2%}")
imp = pd.Series(rf.feature_importances_, index=X.columns).sort_values(ascending=False)
print(imp.round(2).head(3))
