import numpy as np


class OLS:
    """Ordinary least squares from scratch using the normal equations."""

    def __init__(self, fit_intercept=True):
        self.fit_intercept = fit_intercept

    def _design(self, X):
        X = np.atleast_2d(np.asarray(X, dtype=float))
        return np.column_stack([np.ones(len(X)), X]) if self.fit_intercept else X

    def fit(self, X, y):
        A = self._design(X)
        self.beta_, *_ = np.linalg.lstsq(A, y, rcond=None)
        resid = y - A @ self.beta_
        dof = len(y) - A.shape[1]
        self.sigma2_ = resid @ resid / dof
        self.se_ = np.sqrt(np.diag(self.sigma2_ * np.linalg.inv(A.T @ A)))
        self.r2_ = 1 - resid @ resid / np.sum((y - y.mean()) ** 2)
        return self

    def predict(self, X):
        return self._design(X) @ self.beta_


rng = np.random.default_rng(1)
X = rng.normal(size=(100, 2))
y = 3.0 + X @ [1.5, -2.0] + rng.normal(0, 0.5, 100)
model = OLS().fit(X, y)
for i, (b, s) in enumerate(zip(model.beta_, model.se_)):
    print(f"beta{i} = {b:+.3f} (se {s:.3f}, t = {b / s:+.1f})")
print(f"R2 = {model.r2_:.3f}; prediction at (1, 1): {model.predict([[1, 1]])[0]:.2f}")
