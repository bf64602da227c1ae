import pandas as pd
import numpy as np

# Excel report with several sheets and formatting
np.random.seed(5)
df = pd.DataFrame({
    "date": pd.date_range("2024-01-01", periods=90),
    "rep": np.random.choice(["Kara", "Liam", "Nora"], 90),
    "deal": np.random.randint(500, 5000, 90),
})
df["month"] = df["date"].dt.strftime("%Y-%m")

pivot = df.pivot_table(index="rep", columns="month", values="deal", aggfunc="sum", margins=True)

with pd.ExcelWriter("sales_report.xlsx", engine="openpyxl", date_format="YYYY-MM-DD") as writer:
    df.to_excel(writer, sheet_name="Data", index=False)
    pivot.to_excel(writer, sheet_name="Summary", startrow=2)
    ws = writer.sheets["Summary"]
    ws["A1"] = "Deals by rep and month"
    ws.freeze_panes = "B4"
    for column_cells in ws.iter_cols(min_row=3):
        width = max(len(str(c.value)) for c in column_cells if c.value is not None)
        ws.column_dimensions[column_cells[0].column_letter].width = width + 3

check = pd.read_excel("sales_report.xlsx", sheet_name="Summary", header=2, index_col=0)
print(check)
assert check.loc["All", "All"] == df["deal"].sum()
print("✅ Excel report created: sales_report.xlsx")
