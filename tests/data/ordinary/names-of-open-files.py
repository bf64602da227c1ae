# leaves: a.txt
import tempfile

import pandas as pd

with open("a.txt", "w") as f:
    f.write("x")
with open(f.name) as again:
    print(again.read())
with tempfile.NamedTemporaryFile("w+", suffix=".csv") as f:
    f.write("a,b\n1,2\n")
    f.flush()
    print(pd.read_csv(f.name).shape)
