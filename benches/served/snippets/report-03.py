from dataclasses import dataclass
from pathlib import Path
import html
import pandas as pd

STYLE = "<style>body{font-family:sans-serif} td{padding:4px 10px} .neg{color:#c00}</style>"

@dataclass
class Section:
    title: str
    body: str
    def render(self) -> str:
        return f"<h2>{html.escape(self.title)}</h2>\n{self.body}"


class HtmlReport:
    def __init__(self, title):
        self.title = title
        self.sections: list[Section] = []

    def add_table(self, title, df):
        fmt = lambda v: f'<span class="neg">{v:,.0f}</span>' if v < 0 else f"{v:,.0f}"
        self.sections.append(Section(title, df.to_html(float_format=fmt, escape=False, border=0)))

    def add_text(self, title, text):
        self.sections.append(Section(title, f"<p>{html.escape(text)}</p>"))

    def save(self, path):
        body = "\n".join(s.render() for s in self.sections)
        Path(path).write_text(f"<html><head>{STYLE}</head><body><h1>{self.title}</h1>\n{body}</body></html>")


pnl = pd.DataFrame({"2022": [1200.0, -800.0, -250.0], "2023": [1500.0, -900.0, -310.0]}, index=["Revenue", "Costs", "Tax"])
pnl.loc["Net"] = pnl.sum()
report = HtmlReport("Annual accounts")
report.add_text("Summary", f"Net result rose by {pnl.loc['Net', '2023'] / pnl.loc['Net', '2022'] - 1:.1%} & costs < budget.")
report.add_table("Profit and loss", pnl)
report.save("accounts.html")
print(pnl)
print(len(report.sections), "sections;", open("accounts.html").read().count('class="neg"'), "negative cells")
