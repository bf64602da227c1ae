import logging
import numpy as np
import pandas as pd
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
SEED = 13


def load_data(n=300):
    rng = np.random.default_rng(SEED)
    df = pd.DataFrame(rng.uniform(0, 10, (n, 3)), columns=["a", "b", "c"])
    df["target"] = np.sin(df["a"]) * 5 + df["b"] + rng.normal(0, 0.5, n)
    return df


def evaluate(models, X_tr, X_te, y_tr, y_te):
    for name, model in models.items():
        logging.info("training %s", name)
        yield name, mean_absolute_error(y_te, model.fit(X_tr, y_tr).predict(X_te))


if __name__ == "__main__":
    df = load_data()
    split = train_test_split(df[["a", "b", "c"]], df["target"], random_state=SEED)
    models = {"mean": DummyRegressor(), "linear": LinearRegression(),
              "knn": KNeighborsRegressor(7), "forest": RandomForestRegressor(60, random_state=SEED)}
    results = dict(evaluate(models, *split))
    for name in sorted(results, key=results.get):
        print(f"{name:<8} MAE {results[name]:.3f}  ({1 - results[name] / results['mean']:+.0%} vs baseline)")
