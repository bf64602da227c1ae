# leaves: book.xlsx
# The other engine of `pd.ExcelWriter` has charts, formats and rules for cells.
import pandas as pd

df = pd.DataFrame({"region": ["north", "south", "east", "west"], "amount": [12.5, 7.25, 9.0, 3.5]})
with pd.ExcelWriter("book.xlsx", engine="xlsxwriter") as writer:
    df.to_excel(writer, sheet_name="Sheet1", index=False)
    sheet = writer.sheets["Sheet1"]
    bold = writer.book.add_format({"bold": True, "num_format": "0.00"})
    sheet.set_column("B:B", 12, bold)
    sheet.conditional_format("B2:B5", {"type": "3_color_scale"})
    chart = writer.book.add_chart({"type": "column"})
    chart.add_series({"categories": "=Sheet1!$A$2:$A$5", "values": "=Sheet1!$B$2:$B$5", "name": "amount"})
    chart.set_title({"name": "Amount by region"})
    sheet.insert_chart("E2", chart)
print(pd.read_excel("book.xlsx").to_string())
