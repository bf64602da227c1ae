import logging
from functools import wraps

import numpy as np
from scipy import stats

logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
log = logging.getLogger(__name__)


def validated(min_n=3):
    """Reject samples that are too small or not finite."""
    def deco(fn):
        @wraps(fn)
        def inner(*samples, **kw):
            cleaned = []
            for i, s in enumerate(samples):
                a = np.asarray(s, dtype=float)
                mask = np.isfinite(a)
                if not mask.all():
                    print(f"[{fn.__name__}] dropped {np.count_nonzero(~mask)} value(s) of sample {i}")
                if mask.sum() < min_n:
                    raise ValueError(f"sample {i} has only {mask.sum()} usable values")
                cleaned.append(a[mask])
            return fn(*cleaned, **kw)
        return inner
    return deco


@validated(min_n=4)
def compare(a, b):
    res = stats.ttest_ind(a, b, equal_var=False)
    return {"diff": round(float(a.mean() - b.mean()), 3), "p": round(float(res.pvalue), 4)}


print(compare([1, 2, 3, np.nan, 4, 5], [4, 5, 6, 7, np.inf]))
try:
    compare([1, 2], [3, 4, 5, 6])
except ValueError as err:
    print("Error:", err)
print(compare.__name__, "|", log.name)
