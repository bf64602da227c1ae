import numpy as np

# Conway's Game of Life with numpy
def step(grid: np.ndarray) -> np.ndarray:
    neighbours = sum(
        np.roll(np.roll(grid, i, axis=0), j, axis=1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    )
    return ((neighbours == 3) | ((grid == 1) & (neighbours == 2))).astype(int)

def show(grid):
    print("\n".join("".join("#" if c else "." for c in row) for row in grid))

grid = np.zeros((10, 10), dtype=int)
glider = [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]
for r, c in glider:
    grid[r, c] = 1

print("Start:")
show(grid)
for generation in range(1, 21):
    grid = step(grid)
print(f"\nAfter {generation} generations:")
show(grid)
print("Alive:", grid.sum())

rng = np.random.default_rng(5)
soup = (rng.random((40, 40)) < 0.3).astype(int)
history = [soup.sum()]
for _ in range(50):
    soup = step(soup)
    history.append(soup.sum())
print("Soup population:", [int(h) for h in history[::10]])
