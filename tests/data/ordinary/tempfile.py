import os
import tempfile
import pandas as pd
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.csv")
    pd.DataFrame({"a": [1]}).to_csv(path, index=False)
    print(pd.read_csv(path).a.tolist())
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as f:
    f.write("hi")
    f.seek(0)
    print(f.read())
