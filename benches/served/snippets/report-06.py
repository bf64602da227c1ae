import os
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from matplotlib.backends.backend_pdf import PdfPages

os.makedirs("report", exist_ok=True)
np.random.seed(9)

df = pd.DataFrame({
    "branch": np.repeat(["Central", "Harbour", "Airport"], 12),
    "month": np.tile(pd.date_range("2023-01-01", periods=12, freq="MS"), 3),
    "turnover": np.random.normal(80, 12, 36).round(1),
})

with PdfPages("report/branches.pdf") as pdf:
    for branch, part in df.groupby("branch"):
        fig, ax = plt.subplots(figsize=(8, 4))
        ax.fill_between(part["month"], part["turnover"], alpha=0.3)
        ax.plot(part["month"], part["turnover"], lw=2)
        ax.set_title(f"{branch}: {part['turnover'].sum():,.0f}k in 2023")
        pdf.savefig(fig)
        plt.close(fig)
        best = part.loc[part["turnover"].idxmax()]
        print(f"{branch:<8} total {part['turnover'].sum():8.1f}  best month {best['month']:%B}")
    n_pages = pdf.get_pagecount()

print(f"Report with {n_pages} pages written to report/branches.pdf")
