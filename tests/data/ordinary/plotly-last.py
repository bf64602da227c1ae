# leaves: fig1.json
# prints: shown
import plotly.express as px
fig = px.bar(x=["a", "b"], y=[1, 2])
fig.update_layout(title="t")
fig.show()
print("shown")
