import pandas as pd

employees = pd.DataFrame({
    "emp_id": [1, 2, 3, 4, 5, 6],
    "name": ["Grace", "Alan", "Edsger", "Barbara", "Ken", "Dennis"],
    "manager_id": [None, 1, 1, 2, 2, 3],
    "salary": [200, 150, 145, 120, 125, 110],
})

# Self join: employee -> manager
org = employees.merge(
    employees[["emp_id", "name", "salary"]],
    left_on="manager_id", right_on="emp_id",
    how="left", suffixes=("", "_mgr"),
)
org["pct_of_manager"] = (org["salary"] / org["salary_mgr"] * 100).round(1)
print(org[["name", "name_mgr", "salary", "pct_of_manager"]].to_string(index=False))

parents = employees.set_index("emp_id")["manager_id"].to_dict()
names = employees.set_index("emp_id")["name"].to_dict()


def chain(emp):
    path = [names[emp]]
    while pd.notna(parents[emp]):
        emp = int(parents[emp])
        path.append(names[emp])
    return " -> ".join(path)


for emp in employees["emp_id"]:
    print(chain(emp))

print("Direct reports:", org["name_mgr"].value_counts().to_dict())
