# leaves: f.feather m.hb m.mat m.mtx m.npz m.svm n.npz
import numpy as np
import pandas as pd
import scipy.sparse as sp, scipy.io
from io import BytesIO
m = sp.random(20, 10, .3, format='csr', random_state=0)
for kind in ('csr', 'csc', 'bsr', 'coo', 'dia'):
    sp.save_npz('m.npz', m.asformat(kind)); assert (sp.load_npz('m.npz') != m).nnz == 0
for kind in (sp.csr_array, sp.csc_array, sp.coo_array):
    sp.save_npz('n.npz', kind(m)); assert abs(sp.load_npz('n.npz').sum() - m.sum()) < 1e-9
scipy.io.savemat('m.mat', {'m': m, 'c': {'x': m.tocsc(), 'y': [1, 2]}, 'e': sp.csc_matrix((3, 3))}); found = scipy.io.loadmat('m.mat'); assert (found['m'] != m).nnz == 0; assert found['e'].nnz == 0
scipy.io.mmwrite('m.mtx', m); assert abs(scipy.io.mmread('m.mtx') - m).sum() < 1e-9
scipy.io.hb_write('m.hb', m.tocsc()); assert abs(scipy.io.hb_read('m.hb') - m).sum() < 1e-9
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
dump_svmlight_file(m, np.ones(20), 'm.svm'); assert abs(load_svmlight_file('m.svm', n_features=10)[0] - m).sum() < 1e-6
f = pd.DataFrame({'a': [1, 2, None], 't': ['x', None, 'z'], 'd': pd.date_range('2024', periods=3), 'c': pd.Categorical(['u', 'v', 'u']), 'l': [[1], [2, 3], []]})
f.to_feather('f.feather'); print(pd.read_feather('f.feather').equals(f), pd.read_feather('f.feather', columns=['t', 'a']).shape, pd.read_feather('f.feather', dtype_backend='pyarrow').dtypes.tolist())
import pyarrow.feather as pf, pyarrow as pa
print(pf.read_table('f.feather').num_rows, pf.read_feather('f.feather').shape)
print(pa.deserialize_pandas(pa.serialize_pandas(f[['a', 't']])).equals(f[['a', 't']]) if hasattr(pa, 'serialize_pandas') else '')
