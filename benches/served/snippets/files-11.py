import io
import csv
import pandas as pd

samples = {
    "semicolon": "name;city;score\nAnn;Paris;3,5\nBob;Rome;4,25\n",
    "tab": "name\tcity\tscore\nAnn\tParis\t3.5\nBob\tRome\t4.25\n",
    "pipe": "name|city|score\nAnn|Paris|3.5\nBob|Rome|4.25\n",
}

def read_any(text: str) -> pd.DataFrame:
    """Detect the delimiter and decimal mark, then parse."""
    dialect = csv.Sniffer().sniff(text.splitlines()[0], delimiters=";\t|,")
    decimal = "," if dialect.delimiter == ";" else "."
    return pd.read_csv(io.StringIO(text), sep=dialect.delimiter, decimal=decimal)

frames = []
for label, text in samples.items():
    with open(f"{label}.txt", "w") as fh:
        fh.write(text)
    with open(f"{label}.txt") as fh:
        df = read_any(fh.read())
    frames.append(df.assign(source=label))
    print(f"{label:>10}: {df.shape}, score dtype = {df['score'].dtype}")

everything = pd.concat(frames, ignore_index=True)
print(everything)
print(everything.groupby("name")["score"].agg(["mean", "count"]))
