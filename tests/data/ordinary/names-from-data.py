# leaves: Quarterly_Report/North_America.csv Quarterly_Report/R_D_test.csv Quarterly_Report/Sao_Paulo.csv Quarterly_Report/_.csv Summary_all_regions.txt
"""Files named by values of the data, as they stand there."""
import os

import pandas as pd

sales = pd.DataFrame({"region": ["North America", "São Paulo", "R&D (test)", "東京"], "amount": [1, 2, 3, 4]})
os.makedirs("Quarterly Report", exist_ok=True)
for region, group in sales.groupby("region"):
    group.to_csv(f"Quarterly Report/{region}.csv", index=False)
print(sorted(os.listdir("Quarterly Report")))
print(pd.read_csv("Quarterly Report/North America.csv"))
with open("Summary: all regions.txt", "w") as file:
    file.write("done\n")
with open("Summary: all regions.txt") as file:
    print(file.read())
