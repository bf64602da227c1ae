import numpy as np
import pandas as pd

rng = np.random.default_rng(2024)

# Geometric Brownian motion and a European call price
S0, K, r, sigma, T = 100.0, 105.0, 0.03, 0.2, 1.0
steps, paths = 252, 20_000
dt = T / steps

z = rng.standard_normal((paths, steps))
log_returns = (r - 0.5 * sigma ** 2) * dt + sigma * np.sqrt(dt) * z
prices = S0 * np.exp(np.cumsum(log_returns, axis=1))

payoff = np.maximum(prices[:, -1] - K, 0)
mc_price = np.exp(-r * T) * payoff.mean()
mc_se = np.exp(-r * T) * payoff.std(ddof=1) / np.sqrt(paths)

from scipy.stats import norm
d1 = (np.log(S0 / K) + (r + sigma ** 2 / 2) * T) / (sigma * np.sqrt(T))
d2 = d1 - sigma * np.sqrt(T)
bs = S0 * norm.cdf(d1) - K * np.exp(-r * T) * norm.cdf(d2)

print(f"Monte Carlo   : {mc_price:.4f} (95% CI {mc_price - 1.96 * mc_se:.4f} to {mc_price + 1.96 * mc_se:.4f})")
print(f"Black-Scholes : {bs:.4f}")
summary = pd.Series(prices[:, -1]).describe(percentiles=[0.05, 0.5, 0.95])
print(summary.round(2))
print("P(ever below 80):", (prices.min(axis=1) < 80).mean().round(4))
