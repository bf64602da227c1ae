import warnings
import numpy as np
import pandas as pd
from statsmodels.tsa.arima.model import ARIMA
from sklearn.metrics import mean_absolute_error

warnings.filterwarnings("ignore")

np.random.seed(3)
n = 120
e = np.random.normal(0, 1, n)
y = np.zeros(n)
for t in range(1, n):
    y[t] = 0.7 * y[t - 1] + e[t]
series = pd.Series(y + 20, index=pd.date_range("2014-01-01", periods=n, freq="MS"))

train, test = series[:-12], series[-12:]

model = ARIMA(train, order=(1, 0, 0))
fit = model.fit()
print("Parameters:")
print(fit.params.round(2))

forecast = fit.forecast(steps=12)
mae = mean_absolute_error(test, forecast)
naive = mean_absolute_error(test, [train.iloc[-1]] * 12)
print(f"MAE ARIMA(1,0,0): {mae:.2f}")
print(f"MAE naive:        {naive:.2f}")
print("Better than naive" if mae < naive else "Not better than naive")
