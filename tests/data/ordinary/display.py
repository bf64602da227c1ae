# leaves: fig1.png fig2.json
# prints:    x
# prints: 0  1
# prints: <b>bold</b>
# prints: 'text'
import matplotlib.pyplot as plt
import pandas as pd
import plotly.graph_objects as go
from IPython.display import HTML, Markdown, display
display(pd.DataFrame({"x": [1]}))
display(HTML("<b>bold</b>"), "text")
fig, ax = plt.subplots()
ax.plot([1, 2])
display(fig)
go.Figure(go.Bar(x=["a"], y=[1]))
