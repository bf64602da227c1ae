import pandas as pd

# Survey report: Likert scale answers
SCALE = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
answers = {
    "Easy to use": [2, 5, 11, 30, 22],
    "Good value": [8, 14, 20, 21, 7],
    "Would recommend": [4, 6, 9, 28, 23],
}

df = pd.DataFrame(answers, index=SCALE).T
n = df.sum(axis=1)
weights = pd.Series(range(1, 6), index=SCALE)

report = pd.DataFrame({
    "n": n,
    "mean": (df * weights).sum(axis=1) / n,
    "top2": df[SCALE[-2:]].sum(axis=1) / n,
    "bottom2": df[SCALE[:2]].sum(axis=1) / n,
})
report["net"] = report["top2"] - report["bottom2"]
report = report.sort_values("net", ascending=False)

formatted = report.copy()
for col in ["top2", "bottom2", "net"]:
    formatted[col] = formatted[col].map("{:+.0%}".format if col == "net" else "{:.0%}".format)
print(formatted.round(2).to_markdown(tablefmt="github"))

for question, row in df.iterrows():
    bar = "".join(ch * round(v / row.sum() * 40) for ch, v in zip("-~.+#", row))
    print(f"{question:<16} |{bar}|")
formatted.to_html("survey.html")
