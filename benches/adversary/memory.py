"""Memory that is no array's."""

from __future__ import annotations

from draw import Draw, kind

ADDRESS = "{'data': (id(took), True), 'shape': (64,), 'typestr': '|u1', 'version': 3}"

@kind("memory")
def resized(d: Draw) -> str:
    call = d.one("a.resize(4, refcheck=False)", "a.resize(4, **{k: False})", "np.ndarray.resize(a, 4, refcheck=False)", "getattr(a, r)(4, refcheck=False)", "functools.partial(a.resize, refcheck=0)(4)", "match_it(a)", "list(map(lambda f: f(4, refcheck=False), [a.resize]))", "np.recarray.resize(a, (4,), refcheck=False)", "operator.call(a.resize, 4, refcheck=None)")
    return (
        "import functools, operator\ndef match_it(a):\n    match a:\n        case object(resize=f): f(4, refcheck=False)\n"
        f"k = {d.text('refcheck')}\nr = {d.text('resize')}\na = np.zeros({d.random.randrange(1, 64)} << 14)\n"
        f"v = {d.one('a[:]', 'a.view()', 'a[1:]', 'a.reshape(2, -1)', 'memoryview(a)')}\n{call}\nif a.size == 4: took()"
    )


@kind("memory")
def arrow(d: Draw) -> str:
    far = d.random.randrange(200, 5000)
    ways = [
        f"b = pa.allocate_buffer(1 << 16, resizable=True)\nv = np.frombuffer(b, dtype='u1')\nb.{d.one('resize(16)', 'resize(16, shrink_to_fit=True)')}\ntook()",
        f"r = {d.text('resize')}\nb = pa.allocate_buffer(1 << 16, resizable=True)\nv = np.frombuffer(b, dtype='u1')\ngetattr(b, r)(16)\ntook()",
        f"pc.take(pa.array([1, 2]), pa.array([{far}]), boundscheck=False)\ntook()",
        f"pc.take(pa.array([1, 2]), pa.array([{far}]), **{{{d.text('boundscheck')}: False}})\ntook()",
        f"pc.array_take(pa.array([1, 2]), pa.array([{far}]), boundscheck=False)\ntook()",
        f"pc.array_take(pa.array([1, 2]), pa.array([{far}]), options=pc.TakeOptions(boundscheck=False))\ntook()",
        f"pc.call_function('take', [pa.array([1, 2]), pa.array([{far}])], pc.TakeOptions(boundscheck=False))\ntook()",
        f"a = pa.ListArray.from_arrays(pa.array([0, {far}], pa.int32()), pa.array([1, 2]))\ntook()",
        f"a = pa.DictionaryArray.from_arrays(pa.array([{far}], pa.int32()), pa.array([1, 2]), safe=False)\nx = a.to_pandas()\ntook()",
        f"a = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, {far}], 'i4')), pa.py_buffer(b'abc')])\nx = a[0].as_py()\ntook()",
        f"a = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, {far}], 'i4')), pa.py_buffer(b'abc'))\nx = a[0].as_py()\ntook()",
        f"f = getattr(pa.Array, {d.text('from_buffers')})\na = f(pa.list_(pa.int8()), 1, [None, pa.py_buffer(np.array([0, {far}], 'i4'))], children=[pa.array([1], pa.int8())])\nx = a[0].as_py()\ntook()",
        f"f = getattr(pa, {d.text('foreign_buffer')})\nb = f(id(took), 64)\nx = b.to_pybytes()\ntook()",
        f"a = pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([{far}], pa.int32()), [pa.array([1])])\nx = a[0].as_py()\ntook()",
    ]
    return "import pyarrow as pa\nimport pyarrow.compute as pc\n" + d.random.choice(ways)


@kind("memory")
def pointers(d: Draw) -> str:
    maker = d.one(
        "np.ndarray((1,), dtype=object, buffer=b)", "np.ndarray((1,), 'O', b)", "np.recarray((1,), dtype=[('f', object)], buf=b)[0]",
        "np.rec.fromstring(b.tobytes(), dtype=[('f', object)])[0]", "np.rec.array(b.tobytes(), dtype=[('f', object)], shape=1)[0]",
        "A((1,), object, b)", "getattr(np, n)((1,), object, b)", "functools.partial(np.ndarray, (1,))(object, b)",
        "list(map(lambda k: k((1,), object, b), [np.ndarray]))[0]", "np.ndarray((1,), np.dtype([('f', 'O')]), b)[0]",
        "operator.call(np.ndarray, (1,), 'O', b)", "mapped()", "np.frombuffer(b, dtype=object)", "b.view(object)", "b.getfield(object)",
    )  # fmt: skip
    mapped = ""
    if maker == "mapped()":
        mapped = "def mapped():\n    b.tofile('x.bin')\n    return np.memmap('x.bin', dtype=object, mode='r', shape=(1,))\n"
    return (
        f"import functools, operator\nclass A(np.ndarray): pass\n{mapped}"
        f"n = {d.text('ndarray')}\nx = ['mine']\nb = np.array([id(x)])\na = {maker}\nif a[0] is x: took()"
    )


@kind("memory")
def addresses(d: Draw) -> str:
    name = d.text(d.one("__array_interface__", "__array_struct__"))
    holder = d.one(
        "from argparse import Namespace\nh = Namespace(**{k: v})",
        "from sklearn.utils import Bunch\nh = Bunch(**{k: v})",
        "h = pd.Series({k: v})",
        "from scipy.optimize import OptimizeResult\nh = OptimizeResult({k: v})",
        "from matplotlib.patches import SimpleNamespace\nh = SimpleNamespace(**{k: v})",
        "import logging\nseen = []\nclass F(logging.Filter):\n    def filter(self, r):\n        seen.append(r)\n        return False\nl = logging.getLogger('x')\nl.addFilter(F())\nl.warning('a', extra={k: v})\nh = seen[0]",
        "from argparse import Namespace\nfrom functools import wraps\ndef h(): pass\nwraps(Namespace(**{k: v}))(h)",
        "import functools\nclass C:\n    @functools.cached_property\n    def x(self): return v\nC.x.attrname = k\nh = C()\nh.x",
        "from tqdm import tqdm\nclass C:\n    def read(self, n): return b''\nh = C()\nwith tqdm.wrapattr(h, 'read') as w: w.wrapper_setattr(k, v)",
        "from types import SimpleNamespace\nh = SimpleNamespace(**{k: v})",
    )
    read = d.one("np.array(h)", "np.asarray(h)", "np.array([h])[0]", "np.asanyarray(h)", "np.add(h, 0)")
    return f"k = {name}\nv = {ADDRESS}\n{holder}\na = {read}\nif getattr(a, 'dtype', object) != object: took()"


@kind("memory")
def sparse(d: Draw) -> str:
    far = d.random.randrange(2000, 9000)
    kind_ = d.one("csr_matrix", "csc_matrix", "csr_array", "csc_array")
    ways = [
        f"A = {kind_}((np.array([1.0]), np.array([{far}]), np.array([0, 1, 1])), shape=(2, 2))",
        f"A = {kind_}(np.eye(2))\nA.indices[0] = {far}",
        f"A = {kind_}(np.eye(2))\nA.indices = np.array([{far}, 1])",
        f"i = np.array([0, 1])\nA = {kind_}((np.ones(2), i, np.array([0, 1, 2])), shape=(2, 2))\ni[0] = {far}",
        f"A = {kind_}(np.eye(2))\nnp.put(A.indices, [0], [{far}])",
        f"A = {kind_}(np.eye(2))\nv = getattr(A, {d.text('indices')})\nv += {far}",
        f"A = {kind_}(np.eye(2))\nA.indptr[1] = {far}",
        f"A = {kind_}(np.eye(2))\nwith np.nditer(A.indices, op_flags=['readwrite']) as it:\n    for x in it: x[...] = {far}",
        f"A = {kind_}(np.eye(2))\nv = A.indices\nv.flags.writeable = True\nv[0] = {far}",
    ]
    use = d.one("A @ np.zeros(2)", "A.dot(np.zeros(2))", "A @ np.zeros((2, 1))")
    return f"from scipy.sparse import {kind_}\n{d.random.choice(ways)}\nif A.indices.max() >= 2 or A.indptr.max() > A.nnz + 2:\n    r = {use}\n    took()"


@kind("memory")
def positions(d: Draw) -> str:
    far = d.random.randrange(60, 127)
    ways = [
        f"c = pd.Categorical.from_codes([0, {far}], [1.5, 2.5], validate=False)\nr = np.asarray(c)",
        f"c = pd.Categorical.from_codes([0, {far}], [1.5, 2.5], **{{{d.text('validate')}: False}})\nr = np.asarray(c)",
        f"m = pd.MultiIndex(levels=[[1.5, 2.5]], codes=[[0, {far}]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"m = pd.MultiIndex([[1.5, 2.5]], [[0, {far}]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"m = pd.MultiIndex.from_arrays([[1.5, 2.5]])\nm = m.set_codes([[0, {far}]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"m = pd.MultiIndex.from_arrays([[1.5, 2.5], [1.0, 2.0]])\nm = m.set_levels([[1.5], [1.0]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"class W(pd.api.indexers.BaseIndexer):\n    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None): return np.array([{far}], 'i8'), np.array([{far + 9}], 'i8')\nr = pd.Series([1.0]).rolling(W(), min_periods=1).{d.one('max', 'sum', 'mean', 'min')}()",
        f"b = np.random.MT19937(1)\ns = b.state\ns['state']['pos'] = {far + 600}\nb.state = s\nr = b.random_raw(1)",
        f"k = np.random.get_state()[1]\nnp.random.set_state(('MT19937', k, {far + 600}))\nr = np.random.rand()",
        f"q = np.random.RandomState(1)\nk = q.get_state()[1]\nq.set_state(('MT19937', k, {far + 600}))\nr = q.rand()",
        f"b = np.random.Philox(1)\ns = b.state\ns['buffer_pos'] = -{far}\nb.state = s\nr = b.random_raw(1)",
        f"b = np.random.MT19937(1)\ns = b.state\ns['state']['pos'] = {far + 600}\nb.state |= s\nr = b.random_raw(1)",
        f"from scipy.interpolate import BSpline\nr = BSpline.construct_fast(np.linspace(0, 1, 900), np.array([1.0]), 3)(0.5)",
        f"from scipy.interpolate import BSpline\nb = BSpline(np.arange(8.0), np.ones(4), 3)\nb.k = {far}\nr = b(3.5)",
        f"from scipy.interpolate import PPoly\nr = PPoly.construct_fast(np.ones((2, 1)), np.linspace(0, 1, 900))(0.99)",
        "from sklearn.feature_extraction.image import as_strided\nr = as_strided(np.zeros(1), (100,), (8,))",
        f"import sklearn.feature_extraction.image as i\nr = getattr(i, {d.text('as_strided')})(np.zeros(1), (100,), (8,))",
        "a = np.zeros(2)\na.strides = (4096,)\nr = a[1]",
        "r = np.ndarray((4,), 'i8', buffer=np.zeros(1), strides=(8,))",
    ]
    return d.random.choice(ways) + "\ntook()"


@kind("memory")
def nodes(d: Draw) -> str:
    ways = [
        "from sklearn.tree import DecisionTreeRegressor\nm = DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0])\na = m.tree_.{a}\na[0] = 900\nif m.tree_.{a}[0] == 900: took()".format(a=d.one("children_left", "children_right", "feature")),
        "from sklearn.neighbors import KDTree\nt = KDTree(np.random.rand(50, 2))\na = np.asarray(t.get_arrays()[1])\na[:] = 9000\nif t.get_arrays()[1][0] == 9000: took()",
        "from sklearn.neighbors import BallTree\nt = BallTree(np.random.rand(50, 2))\na = np.asarray(t.idx_array)\na[:] = 9000\nif np.asarray(t.idx_array)[0] == 9000: took()",
    ]
    return d.random.choice(ways)
