from math import sqrt
from joblib import Parallel, delayed
print(Parallel(n_jobs=2)(delayed(sqrt)(i ** 2) for i in range(6)))
print(Parallel(n_jobs=-1, prefer="threads")(delayed(sqrt)(i) for i in (1, 4)))
