# Labels for the printed report, with the terminal colours that our old printer needed.
BOLD, RED, RESET = "\x1b[1m", "\x1b[31m", "\x1b[0m"
TITLE, CLEAR = "\x1b]0;all approved\x07", "\x1b[2J\x1b[H"
print(CLEAR + TITLE + BOLD + "PENGUIN REPORT" + RESET)
for species, birds in penguins.groupby("species"):
    heavy = int((birds["body_mass_g"] > 5500).sum())
    print(f"{RED if heavy else ''}{species:<10}{RESET}\t{heavy:3d} above 5,500 g\r")
print("\u202eylno sdrawkcab daer\u202c and a zero\u200bwidth space")
