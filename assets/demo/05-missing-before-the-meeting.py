# How much is missing, column by column?
missing = penguins.isna().sum().rename("missing").to_frame()
missing["percent"] = (100 * missing["missing"] / len(penguins)).round(1)
print(missing[missing["missing"] > 0].to_string())
