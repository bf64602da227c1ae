import os
import matplotlib.pyplot as plt
import pandas as pd
import numpy as np

class ChartBuilder:
    def __init__(self, out_dir="charts", figsize=(8, 5)):
        self.out_dir = out_dir
        self.figsize = figsize
        self.saved = []
        os.makedirs(out_dir, exist_ok=True)

    def _save(self, fig, name):
        path = os.path.join(self.out_dir, f"{name}.png")
        fig.savefig(path)
        plt.close(fig)
        self.saved.append(path)

    def line(self, df, x, y, name, title=""):
        fig, ax = plt.subplots(figsize=self.figsize)
        ax.plot(df[x], df[y], marker="o")
        ax.set(title=title, xlabel=x, ylabel=y)
        self._save(fig, name)
        return self

    def pie(self, series, name):
        fig, ax = plt.subplots(figsize=self.figsize)
        ax.pie(series, labels=series.index, autopct="%1.0f%%", startangle=90, wedgeprops={"width": 0.4})
        self._save(fig, name)
        return self

df = pd.DataFrame({"week": range(1, 11), "users": np.cumsum([12, 15, 9, 22, 30, 28, 35, 31, 40, 44])})
builder = ChartBuilder()
builder.line(df, "week", "users", "growth", title="User growth").pie(
    pd.Series({"free": 180, "pro": 62, "team": 24}), "plans")
for p in builder.saved:
    print(p, os.path.getsize(p) > 0)
print(df.tail(3).to_string(index=False))
