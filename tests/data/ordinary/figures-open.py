# leaves: fig1.png fig2.png
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.plot([1, 2])
plt.figure()
plt.bar(["a", "b"], [1, 2])
print("two")
