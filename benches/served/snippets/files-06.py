import zipfile
import io
import pandas as pd

datasets = {
    "customers.csv": pd.DataFrame({"cust_id": [1, 2, 3], "name": ["Acme", "Bolt", "Core"]}),
    "orders.csv": pd.DataFrame({"order_id": [10, 11, 12, 13], "cust_id": [1, 1, 3, 2], "total": [99.5, 20.0, 310.0, 45.25]}),
}

# Write CSVs straight into the archive without touching the disk
with zipfile.ZipFile("bundle.zip", "w", compression=zipfile.ZIP_DEFLATED) as zf:
    for name, df in datasets.items():
        zf.writestr(f"data/{name}", df.to_csv(index=False))
    zf.writestr("README.txt", "Two related tables: customers and orders.\n")

with zipfile.ZipFile("bundle.zip") as zf:
    print("Bad files:", zf.testzip())
    frames = {}
    for info in zf.infolist():
        print(f"{info.filename:<22}{info.file_size:>6} bytes")
        if info.filename.endswith(".csv"):
            with zf.open(info) as fh:
                frames[info.filename.split("/")[-1][:-4]] = pd.read_csv(fh)

merged = frames["orders"].merge(frames["customers"], on="cust_id", how="left", validate="m:1")
print(merged.groupby("name", as_index=False)["total"].sum().sort_values("total", ascending=False).to_string(index=False))
