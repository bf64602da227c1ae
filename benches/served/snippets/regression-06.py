import numpy as np
import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures
from sklearn.pipeline import make_pipeline
from sklearn.model_selection import KFold, cross_val_score

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(-3, 3, 80))
y = 0.5 * x**3 - x + rng.normal(0, 1.5, 80)
X = x.reshape(-1, 1)

results = {}
for degree in range(1, 8):
    model = make_pipeline(PolynomialFeatures(degree), LinearRegression())
    mse = -cross_val_score(model, X, y, cv=KFold(5, shuffle=True, random_state=0), scoring="neg_mean_squared_error").mean()
    results[degree] = mse
    print(f"degree {degree}: CV MSE = {mse:10.2f}")

best = min(results, key=results.get)
print(f"Best degree: {best}")

final = make_pipeline(PolynomialFeatures(best), LinearRegression()).fit(X, y)
grid = np.linspace(-3, 3, 200)[:, None]
plt.figure(figsize=(8, 5))
plt.scatter(x, y, alpha=0.6, label="data")
plt.plot(grid, final.predict(grid), "r-", lw=2, label=f"degree {best}")
plt.legend()
plt.title("Polynomial regression")
plt.savefig("poly.png")
plt.show()
