import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

# One CSV per department, all packed into a zip archive
rng = np.random.default_rng(6)
staff = pd.DataFrame({
    "name": [f"Employee {i}" for i in range(1, 31)],
    "dept": rng.choice(["Legal", "Lab", "Ops"], 30),
    "overtime": rng.poisson(6, 30),
})

out = Path("departments.zip")
with zipfile.ZipFile(out, "w", compression=zipfile.ZIP_DEFLATED) as zf:
    for dept, part in staff.groupby("dept"):
        buffer = io.StringIO()
        part.sort_values("overtime", ascending=False).to_csv(buffer, index=False)
        zf.writestr(f"{dept.lower()}.csv", buffer.getvalue())
    zf.writestr("README.txt", f"{staff['dept'].nunique()} departments, {len(staff)} employees\n")

with zipfile.ZipFile(out) as zf:
    for name in sorted(zf.namelist()):
        with zf.open(name) as fh:
            if name.endswith(".csv"):
                df = pd.read_csv(fh)
                print(f"{name:<12} {len(df):>3} rows, most overtime: {df.iloc[0]['name']} ({df.iloc[0]['overtime']} h)")
            else:
                print(f"{name:<12} {fh.read().decode().strip()}")
