# leaves: more.parquet part.parquet
import pandas as pd
import pyarrow.dataset as ds

df = pd.DataFrame({'a': [1, 2, 3], 'b': ['x', 'y', 'z']})
df.to_parquet('part.parquet')
parts = ds.dataset('part.parquet')
print(parts.head(2).to_pydict(), parts.count_rows())
print(parts.to_table(columns=['a'], filter=ds.field('b') != 'x').to_pandas())
df.to_parquet('more.parquet')
both = ds.dataset(['more.parquet', 'part.parquet'], format='parquet')
print(both.count_rows(), sorted(both.to_table()['a'].to_pylist()))
