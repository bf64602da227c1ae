import pandas as pd
import numpy as np

np.random.seed(7)

# Build a small workbook with several sheets
quarters = ["Q1", "Q2", "Q3", "Q4"]
sheets = {
    q: pd.DataFrame({
        "product": ["Widget", "Gadget", "Doohickey"],
        "sold": np.random.randint(50, 500, 3),
        "returned": np.random.randint(0, 20, 3),
    })
    for q in quarters
}

with pd.ExcelWriter("sales_by_quarter.xlsx", engine="openpyxl") as writer:
    for name, frame in sheets.items():
        frame.to_excel(writer, sheet_name=name, index=False)

# sheet_name=None returns a dict of DataFrames
loaded = pd.read_excel("sales_by_quarter.xlsx", sheet_name=None)
print("Sheets:", list(loaded))

combined = pd.concat(loaded, names=["quarter"]).reset_index(level="quarter").reset_index(drop=True)
combined["net"] = combined["sold"] - combined["returned"]
pivot = combined.pivot_table(index="product", columns="quarter", values="net", aggfunc="sum", margins=True)
print(pivot)

for q in quarters:
    pd.testing.assert_frame_equal(sheets[q], loaded[q], check_dtype=False)
print("Round trip OK")
