import sqlite3
import pandas as pd
import numpy as np
from pathlib import Path

db = Path("shop.db")
if db.exists():
    db.unlink()

rng = np.random.default_rng(123)
orders = pd.DataFrame({
    "order_id": range(1, 201),
    "customer": rng.choice(["alice", "bob", "carol", "dan"], 200),
    "amount": np.round(rng.gamma(2.0, 30.0, 200), 2),
})

conn = sqlite3.connect(db)
try:
    orders.to_sql("orders", conn, index=False, if_exists="replace")
    conn.execute("CREATE INDEX idx_customer ON orders(customer)")
    query = """
        SELECT customer, COUNT(*) AS n, ROUND(SUM(amount), 2) AS total, ROUND(AVG(amount), 2) AS mean
        FROM orders
        WHERE amount >= ?
        GROUP BY customer
        ORDER BY total DESC
    """
    result = pd.read_sql_query(query, conn, params=(25,))
    print(result)

    tables = [r[0] for r in conn.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    print("Tables:", tables)
finally:
    conn.close()

print("DB exists:", db.exists(), "| suffix:", db.suffix)
