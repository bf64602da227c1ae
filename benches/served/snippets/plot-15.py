import plotly.graph_objects as go

# Waterfall chart and a sankey diagram
steps = [("Opening", 500, "absolute"), ("New", 220, "relative"), ("Upsell", 80, "relative"),
         ("Churn", -130, "relative"), ("Closing", 0, "total")]
names, values, measures = map(list, zip(*steps))

waterfall = go.Figure(go.Waterfall(x=names, y=values, measure=measures, textposition="outside",
                                   text=[f"{v:+}" if m == "relative" else "" for v, m in zip(values, measures)]))
waterfall.update_layout(title="Recurring revenue bridge", showlegend=False)

flows = [("Visit", "Sign-up", 400), ("Visit", "Leave", 600), ("Sign-up", "Paid", 90), ("Sign-up", "Free", 310)]
labels = list(dict.fromkeys(n for s, t, _ in flows for n in (s, t)))
sankey = go.Figure(go.Sankey(
    node=dict(label=labels, pad=20),
    link=dict(source=[labels.index(s) for s, _, _ in flows],
              target=[labels.index(t) for _, t, _ in flows],
              value=[v for *_, v in flows]),
))
sankey.update_layout(title_text="Funnel", font_size=12)

closing = sum(v for v, m in zip(values, measures) if m != "total")
print(f"Closing value: {closing}")
print("Nodes:", labels)
print(f"Conversion visit -> paid: {90 / (400 + 600):.1%}")
for name, fig in {"waterfall": waterfall, "sankey": sankey}.items():
    with open(f"{name}.json", "w") as fh:
        fh.write(fig.to_json())
sankey
