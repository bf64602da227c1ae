import re
import pandas as pd

text = 'a\ud800b\udfffc'
print(len(text), text.encode('utf-8', 'replace'), ascii(text))
print(re.sub('[\ud800-\udfff]', '', text))
print({'\ud800': 1, '\ud801': 2}['\ud801'], '\ud800' == '\ud801', '\ud800' == '\ufffd')
print(ascii(f'{len(text)}\ud800'), r'\ud800', b'\ud800' == rb'\ud800')
print(pd.Series([text]).str.replace('[\ud800-\udfff]', '', regex=True).tolist())
