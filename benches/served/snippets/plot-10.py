import plotly.express as px
import pandas as pd
import io

csv = """category,subcategory,sales,profit
Furniture,Chairs,328,26
Furniture,Tables,206,-17
Technology,Phones,330,44
Technology,Copiers,149,55
Office,Paper,78,34
Office,Binders,203,30
"""
df = pd.read_csv(io.StringIO(csv))
df["margin"] = (df["profit"] / df["sales"]).round(3)

treemap = px.treemap(df, path=[px.Constant("All"), "category", "subcategory"], values="sales",
                     color="margin", color_continuous_scale="RdYlGn", color_continuous_midpoint=0)
treemap.update_layout(margin=dict(t=30, l=10, r=10, b=10))
treemap.write_json("treemap.json")

bar = px.bar(df.sort_values("profit"), x="profit", y="subcategory", color="category", orientation="h", text_auto=True)
bar.add_vline(x=0, line_dash="dash")

totals = df.groupby("category")[["sales", "profit"]].sum().assign(margin=lambda d: d.profit / d.sales)
print(totals.round(3).sort_values("margin", ascending=False))
print("Loss makers:", df.query("profit < 0")["subcategory"].tolist())
print("Treemap nodes:", len(treemap.data[0]["ids"]))
bar
