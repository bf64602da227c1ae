try:
    import lifelines
except ImportError:
    lifelines = None
try:
    from polars import DataFrame as Frame
    HAS_POLARS = True
except ModuleNotFoundError as error:
    HAS_POLARS = False
    print(error)
try:
    import tomli_w.nothing as toml
except Exception:
    toml = None


def curve(times):
    if lifelines is not None:
        fitter = lifelines.KaplanMeierFitter()
        return fitter.fit(times).median_survival_time_
    return sorted(times)[len(times) // 2]


for _ in range(3):
    try:
        import math, lightgbm
    except (ImportError, AttributeError):
        print("no lightgbm", math.pi)
print(curve([3, 1, 2]), HAS_POLARS, toml)
