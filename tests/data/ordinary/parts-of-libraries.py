# leaves: book.xlsx
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import statsmodels.api as sm
from dateutil import tz
from dateutil.tz import gettz
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from statsmodels.iolib.summary2 import summary_col

fig = go.Figure(layout=go.Layout(xaxis=go.layout.XAxis(title=go.layout.xaxis.Title(text="x"))))
fig.add_trace(go.Bar(x=[1], y=[2], marker=go.bar.Marker(color="red", line=go.bar.marker.Line(width=1))))
print(fig.layout.xaxis.title.text, fig.data[0].marker.color)
x = np.arange(20.0)
fit = sm.OLS(x * 2 + np.sin(x), sm.add_constant(x)).fit()
print(summary_col([fit], stars=True, model_names=["one"]))
noon = pd.Timestamp(2024, 7, 1, 12, tz=gettz("Europe/Berlin"))
print(noon.utcoffset(), tz.tzutc(), tz.UTC.utcoffset(None))
df = pd.DataFrame({"a b": [1, 2], "c": [3, 4]})
for row in df.itertuples():
    print(row._1, row.c)
with pd.ExcelWriter("book.xlsx", engine="openpyxl") as writer:
    df.to_excel(writer, sheet_name="s", index=False)
    sheet = writer.sheets["s"]
    for cell in sheet[1]:
        cell.font = Font(bold=True)
        cell.fill = PatternFill("solid", fgColor="FFFF00")
        cell.alignment = Alignment(horizontal="center")
    sheet.column_dimensions[get_column_letter(1)].width = 20
print(pd.read_excel("book.xlsx"))
