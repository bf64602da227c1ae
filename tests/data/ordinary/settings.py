import warnings
import numpy as np
import pandas as pd
warnings.filterwarnings("ignore")
pd.set_option("display.max_rows", 20)
pd.set_option("display.float_format", "{:.2f}".format)
np.set_printoptions(precision=3, suppress=True)
np.random.seed(0)
df = pd.DataFrame(np.random.rand(4, 3), columns=list("abc"))
print(df.describe())
print(df.agg({"a": ["mean", "sum"], "b": "max"}))
