import numpy as np
import plotly.graph_objects as go
from scipy.interpolate import griddata

# Interpolate scattered measurements onto a grid and show a contour plot
rng = np.random.default_rng(90)
px_, py_ = rng.uniform(-2, 2, (2, 150))
pz = px_ * np.exp(-(px_**2) - py_**2)

gx, gy = np.meshgrid(np.linspace(-1.8, 1.8, 40), np.linspace(-1.8, 1.8, 40))
gz = griddata((px_, py_), pz, (gx, gy), method="cubic")

valid = ~np.isnan(gz)
true = gx * np.exp(-(gx**2) - gy**2)
rmse = np.sqrt(np.mean((gz[valid] - true[valid]) ** 2))
print(f"Grid cells filled: {valid.mean():.1%}")
print(f"RMSE of the interpolation: {rmse:.4f}")
iy, ix = np.unravel_index(np.nanargmax(gz), gz.shape)
print(f"Maximum {gz[iy, ix]:.3f} near x={gx[iy, ix]:.2f}, y={gy[iy, ix]:.2f}")

fig = go.Figure(data=[
    go.Contour(x=gx[0], y=gy[:, 0], z=gz, colorscale="Viridis", contours=dict(showlabels=True)),
    go.Scatter(x=px_, y=py_, mode="markers", marker=dict(size=4, color="white"), name="samples"),
])
fig.update_layout(width=650, height=600, title="Interpolated field")
fig.update_yaxes(scaleanchor="x")
fig
