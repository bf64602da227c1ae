import numpy as np
from scipy.optimize import linprog, milp, LinearConstraint, Bounds, linear_sum_assignment

# Production plan: maximise profit
profit = np.array([25, 30, 18])
A = np.array([[2, 3, 1], [4, 2, 3], [1, 2, 2]])
limit = np.array([100, 150, 80])

lp = linprog(-profit, A_ub=A, b_ub=limit, bounds=[(0, None)] * 3, method="highs")
print("LP:", lp.x.round(3), "profit", round(-lp.fun, 2))
print("Slack:", lp.slack.round(3), "shadow prices:", (-lp.ineqlin.marginals).round(3))

ip = milp(-profit, constraints=LinearConstraint(A, -np.inf, limit), integrality=np.ones(3), bounds=Bounds(0, np.inf))
print("MILP profit:", round(-ip.fun, 2), "integral:", np.allclose(ip.x, np.round(ip.x)))

# Assign workers to jobs at the lowest cost
rng = np.random.default_rng(3)
cost = rng.integers(1, 20, (5, 5))
print(cost)
rows, cols = linear_sum_assignment(cost)
for r, c in zip(rows, cols):
    print(f"worker {r} -> job {c} (cost {cost[r, c]})")
print("Total:", cost[rows, cols].sum(), "greedy bound:", cost.min(axis=1).sum())
