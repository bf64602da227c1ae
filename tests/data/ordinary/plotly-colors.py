import plotly.colors as pc
import plotly.express as px
from plotly.colors import hex_to_rgb
from plotly.express.colors import sequential

print(px.colors.qualitative.Plotly[0], px.colors.sequential.Viridis[1])
print(pc.qualitative.Set1[0], sequential.Blues[0])
print(px.colors.sample_colorscale("Viridis", [0.5]), px.colors.diverging.RdBu[0])
figure = px.colors.qualitative.swatches()
print(hex_to_rgb("#ffffff"), len(figure.data) > 10)
