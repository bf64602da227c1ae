import pandas as pd

survey = pd.DataFrame({
    "id": [1, 2, 3, 4, 5],
    "tools": ["python;excel", "R; python ;sql", "excel", None, "SQL;Tableau;Python"],
    "comment": ["Great course!", "too fast :(", "", "ok", "Loved it, 10/10"],
})

# Multi-answer column: split and explode
tools = (
    survey.assign(tool=survey["tools"].str.split(";"))
    .explode("tool")
    .assign(tool=lambda d: d["tool"].str.strip().str.lower())
    .dropna(subset=["tool"])
)
print(tools["tool"].value_counts().sort_index().sort_values(ascending=False, kind="stable"))

dummies = pd.crosstab(tools["id"], tools["tool"]).reindex(survey["id"], fill_value=0)
print("\n", dummies, sep="")

# Comment features
feat = survey["comment"].agg({
    "length": lambda s: s.str.len(),
    "exclaims": lambda s: s.str.count("!"),
    "has_digit": lambda s: s.str.contains(r"\d"),
})
print(feat)
both = dummies[(dummies["python"] == 1) & (dummies["sql"] == 1)].index.tolist()
print(f"Python and SQL: respondents {both}")
