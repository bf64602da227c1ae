# leaves: fig1.png
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.title("t")
plt.show()
print("done")
