# leaves: fig1.png fig2.png
import pandas as pd

df = pd.DataFrame({"a": [1, 3, 2]})
print(type(df.plot()).__name__)
pd.set_option("plotting.backend", "plotly")
print(type(df.plot()).__name__, type(df.plot(backend="matplotlib")).__name__)
pd.options.plotting.backend = "matplotlib"
print(type(df["a"].plot.hist()).__name__)
