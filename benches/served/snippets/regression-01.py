import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import train_test_split

# Generate synthetic house price data
np.random.seed(42)
n = 200
df = pd.DataFrame({
    "sqft": np.random.normal(1500, 400, n),
    "bedrooms": np.random.randint(1, 6, n),
    "age": np.random.randint(0, 50, n),
})
df["price"] = 50_000 + 120 * df["sqft"] + 8_000 * df["bedrooms"] - 900 * df["age"] + np.random.normal(0, 15_000, n)

X = df[["sqft", "bedrooms", "age"]]
y = df["price"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)

model = LinearRegression()
model.fit(X_train, y_train)
y_pred = model.predict(X_test)

print("Coefficients:")
for feature, coef in zip(X.columns, model.coef_):
    print(f"  {feature}: {coef:,.2f}")
print(f"Intercept: {model.intercept_:,.2f}")
print(f"R²: {r2_score(y_test, y_pred):.4f}")
print(f"RMSE: {np.sqrt(mean_squared_error(y_test, y_pred)):,.2f}")
