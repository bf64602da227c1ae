import numpy as np
from scipy.integrate import solve_ivp, quad, simpson, dblquad
import matplotlib.pyplot as plt

# Predator-prey system
def lotka_volterra(t, z, a=1.1, b=0.4, c=0.4, d=0.1):
    x, y = z
    return [a * x - b * x * y, d * x * y - c * y]

sol = solve_ivp(lotka_volterra, (0, 50), [10, 5], dense_output=True, rtol=1e-8, atol=1e-10)
t = np.linspace(0, 50, 501)
prey, pred = sol.sol(t)
print("success:", sol.success)
print(f"prey range [{prey.min():.2f}, {prey.max():.2f}], predators [{pred.min():.2f}, {pred.max():.2f}]")

# conserved quantity
V = 0.1 * prey - 0.4 * np.log(prey) + 0.4 * pred - 1.1 * np.log(pred)
print("Conserved:", np.ptp(V) < 1e-5)

peaks = t[1:-1][(prey[1:-1] > prey[:-2]) & (prey[1:-1] > prey[2:])]
print("Peak times:", peaks.round(1).tolist(), "period ~", np.diff(peaks).mean().round(2))

print("quad   :", round(quad(np.exp, 0, 1)[0], 8))
xs = np.linspace(0, 1, 11)
print("simpson:", round(float(simpson(np.exp(xs), x=xs)), 8))
print("dblquad:", round(dblquad(lambda y, x: x * y, 0, 1, 0, lambda x: 1 - x)[0], 8))

fig, ax = plt.subplots(1, 2, figsize=(9, 3))
ax[0].plot(t, prey, t, pred)
ax[1].plot(prey, pred)
fig.savefig("lotka.png")
