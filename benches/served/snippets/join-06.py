"""Join three tables and export the result to Excel."""
import numpy as np
import pandas as pd

rng = np.random.default_rng(33)

students = pd.DataFrame({"student_id": range(1, 9),
                         "name": ["Ida", "Jon", "Kim", "Lea", "Max", "Nia", "Oli", "Pia"]})
courses = pd.DataFrame({"course_id": ["M1", "P1", "C1"], "title": ["Maths", "Physics", "Chemistry"],
                        "credits": [6, 5, 4]})
grades = pd.DataFrame([
    {"student_id": s, "course_id": c, "grade": int(rng.integers(1, 7))}
    for s in students["student_id"] for c in courses["course_id"] if rng.random() > 0.2
])

full = (grades
        .merge(students, on="student_id")
        .merge(courses, on="course_id")
        .assign(passed=lambda d: d["grade"] >= 3,
                points=lambda d: d["grade"] * d["credits"]))

gpa = full.groupby("name").apply(lambda g: g["points"].sum() / g["credits"].sum(), include_groups=False)
gpa = gpa.rename("gpa").round(2).sort_values(ascending=False)
print(gpa)

with pd.ExcelWriter("grades.xlsx") as writer:
    full.to_excel(writer, sheet_name="grades", index=False)
    gpa.to_frame().to_excel(writer, sheet_name="gpa")

back = pd.read_excel("grades.xlsx", sheet_name=None)
print({sheet: frame.shape for sheet, frame in back.items()})
