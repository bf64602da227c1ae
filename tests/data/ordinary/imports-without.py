import contextlib
import importlib.util
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lifelines import KaplanMeierFitter

lifelines = None
with contextlib.suppress(ImportError):
    import lifelines
HAS_SHAP = find_spec("shap") is not None
if HAS_SHAP:
    import shap
if importlib.util.find_spec("lightgbm"):
    from lightgbm import LGBMClassifier
else:
    LGBMClassifier = None
for name in ("numpy", "pandas", "xgboost", "no.such.package"):
    print(name, importlib.util.find_spec(name.split(".")[0]) is not None)
print(lifelines, HAS_SHAP, LGBMClassifier)


def fitted(model: "KaplanMeierFitter"):
    return model


print(fitted(1))
