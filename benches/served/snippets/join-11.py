import io
import sqlite3

import pandas as pd

authors = pd.read_csv(io.StringIO("author_id,author\n1,Le Guin\n2,Lem\n3,Butler\n4,Dick\n"))
books = pd.read_csv(io.StringIO(
    "title,author_id,year\nThe Dispossessed,1,1974\nSolaris,2,1961\nKindred,3,1979\n"
    "Ubik,4,1969\nThe Left Hand of Darkness,1,1969\nFiasco,2,1986\nAnon,9,2000\n"))

conn = sqlite3.connect("library.db")
try:
    authors.to_sql("authors", conn, if_exists="replace", index=False)
    books.to_sql("books", conn, if_exists="replace", index=False)

    sql = """
    SELECT a.author, COUNT(b.title) AS n_books, MIN(b.year) AS first_year, MAX(b.year) AS last_year
    FROM authors a LEFT JOIN books b USING (author_id)
    GROUP BY a.author
    ORDER BY n_books DESC, a.author
    """
    print(pd.read_sql(sql, conn).to_string(index=False))

    cur = conn.execute("SELECT title FROM books WHERE author_id NOT IN (SELECT author_id FROM authors)")
    print("Books without author:", [row[0] for row in cur.fetchall()])
finally:
    conn.close()
