# leaves: table.tex
import pandas as pd

df = pd.DataFrame({'city': ['Oslo', 'Rome & co'], 'n': [1, 2.5]})
print(df.to_latex())
print(df.to_latex(index=False, caption='Cities', label='tab:cities', float_format='%.1f', escape=True))
print(df.style.to_latex())
print(df.style.format(precision=1).hide(axis='index').to_latex(hrules=True, caption='Cities'))
print(df.set_index('city').T.to_latex(longtable=True))
print('<td' in df.style.highlight_max('n').to_html(), 'Oslo' in df.style.to_string())
print(df['n'].to_latex())
df.to_latex('table.tex')
