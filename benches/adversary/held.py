"""Memory of objects written as numbers, and positions that compiled code takes from what it holds."""

from __future__ import annotations

from draw import Draw, kind


@kind("memory")
def over_objects(d: Draw) -> str:
    """Pointers, written as numbers through a buffer."""
    ways = [
        "io.BytesIO(n).readinto(a)",
        "io.BytesIO(n).readinto1(a)",
        "f = io.BytesIO(n)\ngetattr(f, r)(a)",
        "list(map(io.BytesIO(n).readinto, [a]))",
        "v = np.frombuffer(a, dtype='i8')\nv[0] = id(x)",
        "v = np.ndarray((1,), 'i8', a)\nv[0] = id(x)",
        "v = np.ndarray(shape=(1,), dtype='i8', buffer=memoryview(a))\nv[0] = id(x)",
        "v = np.frombuffer(pa.py_buffer(a), dtype='i8')\nv[0] = id(x)",
        "v = np.asarray(pa.py_buffer(a))\nv[:] = np.frombuffer(n, 'i1')",
        "v = np.ma.frombuffer(a, dtype='i8')\nv[0] = id(x)",
        "v = np.char.chararray((1,), itemsize=8, buffer=a)\nv[0] = n",
        "m = memoryview(a).cast('B')\nm[:] = n",
        "m = a.data.cast('B')\nm[:] = n",
        "m = getattr(a, w).cast('B')\nm[:] = n",
        "pa.FixedSizeBufferWriter(pa.py_buffer(a)).write(n)",
        "pa.BufferReader(n).readinto(a)",
        "open('x.bin', 'wb').write(n)\nwith open('x.bin', 'rb') as f: f.readinto(a)",
        "with gzip.open('x.gz', 'wb') as f: f.write(n)\nwith gzip.open('x.gz', 'rb') as f: f.readinto(a)",
        "open('x.bin', 'wb').write(n)\nwith open('x.bin', 'rb') as f: a = np.rec.fromfile(f, dtype=[('o', 'O')], shape=1).o",
        "match io.BytesIO(n):\n    case object(readinto=g): g(a)",
    ]
    return (
        f"import gzip, io\nimport pyarrow as pa\nr = {d.text('readinto')}\nw = {d.text('data')}\nx = ['mine']\nn = np.array([id(x)], 'i8').tobytes()\n"
        f"a = np.array([None], dtype=object)\n{d.random.choice(ways)}\nif a[0] is x: took()"
    )


@kind("memory")
def held(d: Draw) -> str:
    """Positions that an object holds, or that it is told."""
    far = d.random.choice([10**7, 10**8, 2**29])
    ways = [
        "from scipy.sparse import coo_matrix\nc = coo_matrix(np.eye(2))\nc.row[0] = far\nc.toarray()",
        "from scipy.sparse import coo_array\nc = coo_array(np.eye(2))\nc.coords[1][0] = far\nc.toarray()",
        "from scipy.sparse import coo_matrix\nr = np.array([0], 'i4')\nc = coo_matrix((np.ones(1), (r, [0])), shape=(1, 1))\nr[0] = far\nc.toarray()",
        "from scipy.sparse import lil_matrix\nm = lil_matrix((2, 2))\nm[0, 0] = 1\nm.rows[0][0] = far\nm.tocsr() @ np.ones(2)",
        "from scipy.sparse import bsr_matrix\nb = bsr_matrix((np.ones((1, 1, 1)), np.array([far], 'i4'), np.array([0, 1], 'i4')), shape=(1, 1))\nb @ np.ones(1)",
        "from scipy.sparse import csr_matrix\nfrom concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as e: m = e.submit(csr_matrix, (np.ones(1), np.array([far], 'i4'), np.array([0, 1], 'i4')), shape=(1, 1)).result()\nm.toarray()",
        "from scipy.sparse import csr_matrix\nm = csr_matrix(np.ones((100, 100)))\nm.data = np.zeros(1)\nif (m.toarray() != 0).any(): took()",
        "from scipy.sparse import csc_matrix\nfrom scipy.sparse.linalg import splu\nlu = splu(csc_matrix(np.eye(3)))\nlu.perm_r[:] = far\nlu.solve(np.ones(3))",
        "from scipy.linalg import lu_solve\nlu_solve((np.eye(2), np.array([far, 1], 'i4')), np.ones(2))",
        "from scipy.linalg import lapack\nlapack.dlaswp(np.eye(2), np.array([far, 1], 'i4'))",
        "from scipy.linalg import lapack\nlapack.dgetri(np.eye(2), np.array([far, far], 'i4'))",
        "from scipy.linalg import get_lapack_funcs\nf, = get_lapack_funcs(('getrs',), (np.eye(2),))\nf(np.eye(2), np.array([far, 1], 'i4'), np.ones(2))",
        "from scipy.spatial import Delaunay\nt = Delaunay(np.random.rand(20, 2))\nt.neighbors[:] = far\nt.find_simplex(np.random.rand(50, 2))",
        "from scipy.spatial import cKDTree\nk = cKDTree(np.random.rand(100, 2))\nk.indices[:] = far\nk.query([[0.5, 0.5]])",
        "import matplotlib.tri as mt, matplotlib.pyplot as plt\nt = mt.Triangulation([0, 1, 0, 1.0], [0, 0, 1, 1.0])\nt.triangles[:] = far\nplt.tricontour(t, [0, 1, 2, 3.0])",
        "c = pd.Categorical(['a', 'b'])\nv = c.codes\nv.setflags(write=True)\nv[0] = 100\nif list(np.asarray(c)) != ['a', 'b']: took()",
        "c = np.array([0, 1], 'i1')\np = pd.Categorical.from_codes(c, ['a', 'b'])\nc[0] = 100\nif list(np.asarray(p)) != ['a', 'b']: took()",
        "m = pd.MultiIndex.from_arrays([['a', 'b'], [1, 2]])\nv = m.codes[0]\nv.setflags(write=True)\nv[0] = 100\nif list(m.get_level_values(0)) != ['a', 'b']: took()",
        "s = pd.Series(['a', 'b'], dtype='category')\nv = s.cat.codes.to_numpy()\nv.setflags(write=True)\nv[0] = 100\nif list(s) != ['a', 'b']: took()",
        "from sklearn.tree import DecisionTreeClassifier as D\nX = np.zeros((10, 50), 'f4')\nX[5:, 49] = 1\nt = D().fit(X, [0] * 5 + [1] * 5)\nt.tree_.apply(np.ones((1, 1), 'f4'))\ntook()",
        "from sklearn.tree import DecisionTreeClassifier as D\nX = np.zeros((10, 50), 'f4')\nX[5:, 49] = 1\nt = D().fit(X, [0] * 5 + [1] * 5)\nt.n_features_in_ = 1\nt.predict(np.ones((1, 1), 'f4'))\ntook()",
        "from sklearn.cluster import KMeans\nX = np.random.rand(100, 200)\nk = KMeans(2, n_init=1).fit(X)\nk.cluster_centers_ = np.zeros((2, 1))\nk.predict(X)\ntook()",
        "from sklearn.svm import SVC\nX = np.random.rand(20, 3)\ns = SVC().fit(X, [0, 1] * 10)\ns.support_vectors_ = np.zeros((20, 1))\ns.predict(X)\ntook()",
        "class B: pass\nb, p = B(), np.random.PCG64(1)\nb.lock, b.capsule = p.lock, p.capsule\ng = np.random.Generator(b)\ntook()",
    ]
    return f"far = {far}\n{d.random.choice(ways)}"


@kind("memory")
def arrow_parts(d: Draw) -> str:
    """Arrays of Arrow whose parts do not fit, or do not any more."""
    ways = [
        "u = pa.UnionArray.from_sparse(pa.array([0, 77], pa.int8()), [pa.array([1, 2])])\nu.to_pylist()\ntook()",
        "u = pa.UnionArray.from_dense(pa.array([77], pa.int8()), pa.array([0], pa.int32()), [pa.array([1])])\nu.to_pylist()\ntook()",
        "s = pa.SparseCSRMatrix.from_numpy(np.ones(1), np.array([0, 1, 1]), np.array([10**7]), (2, 2), None)\ns.to_tensor()\ntook()",
        "s = pa.SparseCOOTensor.from_numpy(np.ones((1, 1)), np.array([[10**7, 0]]), (2, 2), None)\ns.to_tensor()\ntook()",
        "o = np.array([0, 1, 2], 'i4')\ns = pa.Array.from_buffers(pa.binary(), 2, [None, pa.py_buffer(o), pa.py_buffer(b'ab')])\no[2] = 5000\nif len(s[1].as_py()) > 1: took()",
        "s = pa.array([b'aa', b'bb'], pa.binary())\nv = np.asarray(s.buffers()[1]).view('i4')\nv[2] = 5000\nif len(s[1].as_py()) > 2: took()",
        "b = pc.TakeOptions(boundscheck=True).serialize().to_pybytes()\no = pc.FunctionOptions.deserialize(pa.py_buffer(b))\ntook()",
        "import io\nb = io.BytesIO()\npd.DataFrame({'s': ['aaaa', 'bbbb']}).to_feather(b, compression='uncompressed')\nraw = bytearray(b.getvalue())\ni = raw.find(np.array([0, 4, 8], 'i4').tobytes())\nraw[i + 8:i + 12] = np.array([3000], 'i4').tobytes()\nt = pd.read_feather(io.BytesIO(bytes(raw)))\ntook()",
    ]
    return "import pyarrow as pa\nimport pyarrow.compute as pc\n" + d.random.choice(ways)
