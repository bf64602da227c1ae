import numpy as np
from scipy.integrate import ode, odeint, solve_ivp

path = []


def swing(y, t, b, c):
    path.append(y[0])
    theta, omega = y
    return [omega, -b * omega - c * np.sin(theta)]


t = np.linspace(0, 4, 9)
print(odeint(swing, [np.pi - 0.1, 0.0], t, args=(0.25, 5.0)).round(4))
print(len(path) > 10, round(path[-1], 3))
print(odeint(lambda t, y: -y, [1.0], t, tfirst=True, Dfun=lambda t, y: [[-1.0]]).round(4).ravel())
for name in ("vode", "lsoda", "dopri5", "dop853"):
    solver = ode(lambda t, y: [y[1], -y[0]]).set_integrator(name)
    solver.set_initial_value([1.0, 0.0], 0.0)
    while solver.successful() and solver.t < 1:
        solver.integrate(solver.t + 0.5)
    print(name, solver.y.round(4))
print(solve_ivp(lambda t, y: -y, (0, 1), [1.0], t_eval=[0.5, 1.0]).y.round(3))
for v in np.nditer(np.arange(3), flags=["external_loop"]):
    print(v)
with np.nditer(np.arange(4).reshape(2, 2), flags=["multi_index"], op_flags=["readwrite"]) as it:
    for x in it:
        x[...] = 2 * x
    print(it.operands[0])
