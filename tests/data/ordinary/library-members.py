# leaves: test.unf
import numpy as np
import plotly.figure_factory as ff
import statsmodels.api as sm
from pandas.core.dtypes.common import is_numeric_dtype
from pandas.core.dtypes.dtypes import CategoricalDtype
from plotly import tools
from plotly.callbacks import Points
from scipy.io import FortranFile
from statsmodels.tsa.base.datetools import dates_from_range

print(len(ff.create_annotated_heatmap([[1, 2], [3, 4]]).layout.annotations))
print(tools.make_subplots(rows=2).layout.yaxis2.anchor, Points().point_inds)
print(sm.regression.yule_walker(np.arange(20.0), order=1)[0].round(3))
print(sm.emplike.DescStat(np.arange(10.0)).endog.shape)
print(is_numeric_dtype("int64"), CategoricalDtype(["a"]).categories.tolist())
print(dates_from_range("2000q1", "2001q2")[-1])
with FortranFile("test.unf", "w") as file:
    file.write_record(np.array([1, 2, 3], dtype=np.int32))
with FortranFile("test.unf", "r") as file:
    print(file.read_ints(np.int32))
