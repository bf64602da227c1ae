import numpy as np
import pandas as pd
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer, HashingVectorizer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, KBinsDiscretizer, SplineTransformer, LabelBinarizer, MultiLabelBinarizer, PolynomialFeatures
docs = ['ein haus am see', 'das haus', 'der see und das haus']
for v in (CountVectorizer(), TfidfVectorizer(ngram_range=(1, 2), max_features=4), HashingVectorizer(n_features=16), CountVectorizer(vocabulary=['haus', 'see'])):
    print(v.fit_transform(docs).shape, v.transform(['nichts', 'haus']).sum() >= 0)
d = DictVectorizer(); m = d.fit_transform([{'a': 1, 'b': 'x'}, {'b': 'y'}]); print(m.toarray(), d.inverse_transform(m))
f = pd.DataFrame({'a': ['x', 'y', None], 'b': [1, 2, 3]})
for e in (OneHotEncoder(), OneHotEncoder(handle_unknown='ignore', drop='first'), OneHotEncoder(sparse_output=False), OrdinalEncoder()):
    m = e.fit_transform(f); print(m.shape, e.inverse_transform(m)[0].tolist())
print(KBinsDiscretizer(3).fit_transform(np.arange(9.).reshape(-1, 1)).shape, SplineTransformer(sparse_output=True).fit_transform(np.arange(9.).reshape(-1, 1)).shape)
print(LabelBinarizer(sparse_output=True).fit_transform(['a', 'b', 'c']).shape, MultiLabelBinarizer(sparse_output=True).fit_transform([['a'], ['b', 'c']]).shape)
print(FeatureHasher(4).transform([{'a': 1}]).shape)
v = TfidfVectorizer(); v.fit(docs); w = TfidfVectorizer(vocabulary=v.vocabulary_); w.fit(docs); print(w.transform(docs).shape)
