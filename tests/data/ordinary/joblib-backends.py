import joblib
from joblib import Parallel, delayed

for backend in ["loky", "threading", "multiprocessing"]:
    print(Parallel(n_jobs=2, backend=backend)(delayed(abs)(-n) for n in range(3)))
print(joblib.Parallel(n_jobs=2, backend="multiprocessing")(joblib.delayed(abs)(n) for n in range(2)))
