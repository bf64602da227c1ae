# leaves: fig1.png fig10.png fig11.png fig12.png fig13.png fig14.png fig15.png fig16.png fig17.png fig18.png fig19.png fig2.png fig20.png fig3.png fig4.png fig5.png fig6.png fig7.png fig8.png fig9.png
import matplotlib.pyplot as plt
for n in range(22):
    fig, ax = plt.subplots(figsize=(1, 1))
    ax.bar([0], [n])
    plt.show()
    plt.close("all")
print("22")
