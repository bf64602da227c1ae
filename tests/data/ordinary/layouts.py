"""The layout of an array, set in place as in older code."""

import numpy as np
import pandas as pd

a = np.arange(6)
a.shape = (2, 3)
a.shape = 3, -1
print(a, a.shape)
a.dtype = np.uint8
print(a.shape)


def table(values, width):
    values = np.asarray(list(values), dtype="i4")
    values.shape = (-1, width)
    return values


print(table(range(6), 2))


def flat(array):
    array.shape = -1
    return array


print(flat(np.eye(2)))
try:
    a.shape = 7
except (AttributeError, ValueError):
    print("incompatible")


class Layer:
    def __init__(self, shape):
        self.shape = shape
        self.dtype = "float32"


layer = Layer((3, 4))
layer.shape = (4, 3)
layer.dtype = np.float64
print(layer.shape, layer.dtype)

# A column that is added to a grouped table is seen by its groups.
df = pd.DataFrame({"k": [0, 1, 0], "v": [1.0, 2.0, 3.0]})
groups = df.groupby("k")
df["share"] = df["v"] / groups["v"].transform("sum")
print(groups["share"].sum().tolist(), groups.ngroup().tolist())
stamps = pd.Series([1.0, 2.0, 3.0], index=pd.to_datetime(["2024-01-01", None, "2024-01-02"]))
print(stamps[stamps.index.notna()].resample("D").sum().tolist())
print(pd.Categorical(["a", "b"]).view("i1").tolist())
