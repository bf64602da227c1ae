# leaves: a.csv.gz b.txt.gz out.zip unpacked/inside.txt
import gzip
import zipfile
import pandas as pd
pd.DataFrame({"n": [1, 2]}).to_csv("a.csv.gz", index=False)
print(pd.read_csv("a.csv.gz").n.sum())
with gzip.open("b.txt.gz", "wt") as f:
    f.write("hello")
with gzip.open("b.txt.gz", "rt") as f:
    print(f.read())
with zipfile.ZipFile("out.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("inside.txt", "text")
with zipfile.ZipFile("out.zip") as z:
    print(z.namelist())
    z.extractall("unpacked")
print(open("unpacked/inside.txt").read())
