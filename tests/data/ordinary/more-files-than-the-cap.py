# leaves: part00.csv part01.csv part02.csv part03.csv part04.csv part05.csv part06.csv part07.csv part08.csv part09.csv part10.csv part11.csv part12.csv part13.csv part14.csv part15.csv part16.csv part17.csv part18.csv part19.csv
import pandas as pd

for n in range(25):
    pd.DataFrame({"n": [n]}).to_csv(f"part{n:02}.csv", index=False)
print("25 written")
