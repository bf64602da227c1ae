import io
import pandas as pd

# Step 1: Load the data
csv_text = """order_id,customer,region,amount,order_date
1001,Acme Corp,North,250.75,2024-01-05
1002,Beta LLC,South,,2024-01-07
1003,Acme Corp,North,99.90,2024-01-09
1004,Gamma Inc,East,1320.00,2024-02-01
1005,Delta Co,,410.10,2024-02-14
1006,Beta LLC,South,87.25,2024-03-02
"""
df = pd.read_csv(io.StringIO(csv_text), parse_dates=["order_date"])

# Step 2: Basic overview
print("Shape:", df.shape)
print("\nColumn types:")
print(df.dtypes)
print("\nMissing values:")
print(df.isnull().sum())

# Step 3: Numeric summary
print("\nSummary statistics:")
print(df["amount"].describe().round(2))

# Step 4: Distribution by region
print("\nOrders per region:")
print(df["region"].value_counts(dropna=False))
