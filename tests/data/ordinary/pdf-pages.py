# leaves: report/pages.pdf
import os

import matplotlib.pyplot as plt
from matplotlib.backends.backend_pdf import PdfPages

os.makedirs("report", exist_ok=True)
with PdfPages("report/pages.pdf") as pdf:
    for name in ("a", "b"):
        fig, ax = plt.subplots()
        ax.plot([1, 2])
        ax.set_title(name)
        pdf.savefig(fig)
        plt.close(fig)
    pages = pdf.get_pagecount()
print(pages)
