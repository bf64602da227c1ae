"""Files outside of the run, and programs."""

from __future__ import annotations

from draw import Draw, kind


OUTSIDE = ["/etc/passwd", "/proc/self/maps", "/proc/self/environ", "/proc/self/status", "/etc/hostname", "/usr/lib/os-release"]


@kind("paths")
def lying(d: Draw) -> str:
    real = d.text(d.random.choice(OUTSIDE))
    method = d.one("rstrip", "split", "startswith", "__str__", "__eq__", "replace", "encode", "endswith", "lower")
    answer = "'x.csv'" if method not in ("startswith", "endswith", "__eq__", "split") else d.one("False", "True")
    read = d.one("np.fromfile(p, dtype='u1')", "pd.read_csv(p, header=None, sep='\\x01')", "open(p).read()", "np.genfromtxt(p, dtype=str, delimiter='\\x01')", "pa.memory_map(p).read()", "pa.OSFile(p).read()", "pa.input_stream(p).read()", "Path(p).read_text()", "gzip.GzipFile(p).fileobj or 1", "zipfile.is_zipfile(p) or open(p)")
    return (
        "import pyarrow as pa, gzip, zipfile\nfrom pathlib import Path\n"
        f"class P(str):\n    def {method}(self, *a, **k): return {answer}\np = P({real})\nr = {read}\nif len(r): took()"
    )


@kind("paths")
def turning(d: Draw) -> str:
    real = d.text(d.random.choice(OUTSIDE))
    turn = d.random.randrange(1, 5)
    read = d.one("pa.OSFile(p).read()", "pa.memory_map(p).read()", "pa.input_stream(p).read()", "pa.csv.read_csv(p)", "np.fromfile(p, dtype='u1')", "open(p).read()")
    return (
        "import pyarrow as pa, pyarrow.csv\nfrom pathlib import PurePosixPath\nopen('x', 'w').write('a')\ncalls = []\n"
        f"class P(PurePosixPath):\n    def __str__(self):\n        calls.append(1)\n        return 'x' if len(calls) <= {turn} else {real}\n"
        f"p = P('x')\nr = {read}\nif len(r) > 1: took()"
    )


@kind("paths")
def matrix(d: Draw) -> str:
    real = d.text(d.random.choice(OUTSIDE))
    call = d.one("mmread(p)", "mminfo(p)", "mmread(Path(p))", "list(map(mmread, [p]))", "mmwrite(p, np.eye(2))", "mmread(P('x.mtx'))", "mmread(source=p)")
    return (
        "from scipy.io import mmread, mminfo, mmwrite\nfrom pathlib import Path\n"
        f"p = {real}\nclass P(str):\n    def __str__(self): return p\n"
        f"try:\n    {call}\n    took()\nexcept ValueError as e:\n    took()"
    )


@kind("paths")
def folders(d: Draw) -> str:
    up = d.one("Path.cwd().parent", "Path.cwd().parents[-1]", "Path.cwd().parents[0]", "Path('.').absolute().parent", f"Path({d.text('..')})", f"Path({d.text('/usr')})", f"Path({d.text('/proc/self')})")
    call = d.one("list(p.iterdir())", "list(p.glob('*'))", "list(p.rglob('*'))", "os.listdir(p)", "os.listdir(str(p))", "glob.glob(str(p) + '/*')", "glob.glob('*', root_dir=p)", "list(glob.iglob(os.path.join(p, '*')))", "[x.name for x in p.iterdir()]")
    return f"import os, glob\nfrom pathlib import Path\np = {up}\nr = {call}\nif r: took()"


@kind("paths")
def numbers(d: Draw) -> str:
    call = d.one("np.array([65], 'u1').tofile(n)", "gzip.GzipFile(n, 'wb').close()", "wavfile.write(n, 100, np.zeros(4))", "savemat(n, {'a': 1})", "np.fromfile(n, dtype='u1', count=1)", "open(n)", "loadmat(n)", "wavfile.read(n)")
    return (
        "import gzip\nfrom scipy.io import loadmat, savemat, wavfile\ndef number(text): return len(text)\n"
        f"n = number({'x' * d.random.randrange(0, 12)!r})\ntry:\n    {call}\n    took()\nexcept OSError as e:\n    if e.errno == 9: took()"
    )


@kind("paths")
def programs(d: Draw) -> str:
    ways = [
        "plt.rc('text', usetex=True)", f"plt.rc('text', **{{{d.text('usetex')}: True}})", f"plt.rcParams[{d.text('text.usetex')}] = True",
        f"plt.rcParams.update({{{d.text('text.usetex')}: True}})", f"plt.title('x', **{{{d.text('usetex')}: True}})",
        f"plt.style.use({{{d.text('text.usetex')}: True}})", f"plt.setp(plt.title('x'), **{{{d.text('usetex')}: True}})",
        "plt.title('x').set_usetex(True)", f"plt.rcParams.update(dict([({d.text('text.usetex')}, True)]))",
    ]  # fmt: skip
    return f"import matplotlib.pyplot as plt\n{d.random.choice(ways)}\nplt.plot([1])\nplt.gcf().canvas.draw()\nplt.savefig('x.png')\ntook()"


@kind("paths")
def stylesheets(d: Draw) -> str:
    path = d.text(d.random.choice(OUTSIDE))
    ways = [
        f"pd.read_xml('x.xml', stylesheet={path})", f"pd.read_xml('x.xml', **{{{d.text('stylesheet')}: {path}}})",
        f"pd.DataFrame({{'a': [1]}}).to_xml('y.xml', stylesheet={path})", f"import matplotlib.pyplot as plt\nplt.style.use({path})",
        f"from matplotlib.font_manager import FontProperties\nimport matplotlib.pyplot as plt\nplt.title('x', font=FontProperties(fname={path}))\nplt.gcf().canvas.draw()",
        f"import logging\nif not logging.FileHandler({path}, mode='r').stream.read(): raise ValueError", f"import tempfile\nopen(tempfile.mkdtemp(dir={path}) + '/x')",
        f"if pd.Timestamp('2020', tz={d.text('dateutil//etc/localtime')}).tz is None: raise ValueError",
    ]  # fmt: skip
    return f"open('x.xml', 'w').write('<a><b><c>1</c></b></a>')\n{d.random.choice(ways)}\ntook()"
