# leaves: part.csv
import glob

import pandas as pd

df = pd.DataFrame({"a": [1, 2, 3, 4], "b": [4.0, 3.0, 2.5, 1.0], "r": ["x", "y", "x", "y"]})
lim = 2
print(df.query("a > " + str(lim)))
print(df.query("a > %d" % lim))
print(df.query("a > {}".format(lim)))
conditions = ["a > 1", f"b < {lim + 2}"]
print(df.query(" and ".join(conditions)))
q = "a > 1"
q += " and b < " + str(lim + 1)
print(df.query(q))

fmt = "{:,.1f}".format
print(df["b"].map(fmt).tolist())
formatters = {"a": "{:.2f}".format, "b": "[{:.1f}]".format}
print(df.to_string(formatters=formatters))
row = "".join(["{:<10}"] * 3)
print(row.format("a", "b", "c"))
print(("{:>6}" * 2).format(1, 2))
width = max(len(c) for c in df.columns) + 4
line = f"{{:<{width}}}|"
print(line.format("a"))


def show(x, template="{:.1f}"):
    return template.format(x)


print(show(1), show(2, template="{:.2f}"))


class Runner:
    def do_sum(self):
        return int(df["a"].sum())

    def run(self, command):
        return getattr(self, f"do_{command}")()


print(Runner().run("sum"))

df.to_csv("part.csv", index=False)
files = sorted(glob.glob("*.csv"))
print(pd.read_csv(files[0]).shape)
options = {"how": "mean", "title": f"Mean of {len(df)}"}
print(df[["a", "b"]].agg(options.pop("how")))
