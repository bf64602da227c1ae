//! Capabilities of well-known packages beyond computing, by their top-level name or a part of them.
//!
//! No such list is ever complete: packages on no list are unknown, and are not considered harmless (see
//! [`super::computes`]).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::model::Capability;

/// A dotted name stands for a part of a package: `torch.hub`.
const TABLE: &[(Capability, &str)] = &[
    (
        Capability::NetworkOut,
        // HTTP, protocols, remote shells
        "requests requests_oauthlib requests_toolbelt requests_html httpx httpcore httplib2 aiohttp urllib3 \
         websocket websockets wsproto h11 h2 niquests pycurl treq wget mechanize mechanicalsoup scrapy \
         selenium playwright pyppeteer splinter feedparser newspaper paramiko asyncssh netmiko napalm scp \
         ldap3 suds zeep pysnmp nmap scapy socks socksio dns dnspython oauthlib authlib twisted gevent \
         eventlet trio anyio curio uvloop pyzmq zmq nanomsg pynng grpc grpcio nats stomp paho websockify \
         Pyro4 Pyro5 zerorpc rpyc xmlrpc pysftp ftputil exchangelib imapclient yagmail \
         sentry_sdk rollbar newrelic ddtrace datadog opentelemetry prometheus_client statsd \
         fsspec s3fs gcsfs adlfs smart_open cloudpathlib upath pooch gdown intake obstore \
         boto boto3 botocore aiobotocore s3transfer minio google azure oci alibabacloud ibm_boto3 \
         stripe twilio sendgrid slack_sdk discord telegram telethon tweepy praw \
         openai anthropic cohere mistralai ollama langchain llama_index huggingface_hub transformers \
         diffusers datasets tensorflow_datasets tensorflow_hub kaggle kagglehub openml \
         yfinance pandas_datareader wbgapi wbdata fredapi quandl nasdaqdatalink alpaca ccxt geopy osmnx \
         wandb mlflow comet_ml neptune clearml dvc chart_studio \
         sqlalchemy sqlmodel databases ibis peewee pony tortoise alembic dataset records connectorx \
         adbc_driver_manager psycopg psycopg2 asyncpg pg8000 pymysql MySQLdb aiomysql mysql mariadb pymssql \
         pyodbc aioodbc turbodbc oracledb cx_Oracle ibm_db snowflake databricks trino prestodb pyhive \
         impala clickhouse_driver clickhouse_connect cassandra duckdb pymongo motor mongoengine redis \
         aioredis redis_om valkey pymemcache memcache pylibmc elasticsearch opensearchpy neo4j py2neo influxdb \
         influxdb_client kafka confluent_kafka aiokafka pulsar pika aio_pika kombu amqp celery rq dramatiq huey \
         couchdb couchbase arango etcd3 consul hvac kazoo pyspark delta pyiceberg deltalake lancedb h2o \
         ray modin vaex airflow prefect dagster luigi netCDF4 xarray jupyter_client \
         pyarrow.fs pyarrow.flight pyarrow.hdfs pandas.io.sql pandas.io.gbq seaborn.utils \
         scipy.datasets._fetchers statsmodels.tools.web statsmodels.datasets.utils sklearn.datasets._openml \
         torch.distributed torch.utils.model_zoo torch.utils.tensorboard torchvision.datasets.utils \
         tensorflow.io tensorflow.distribute tensorflow.data keras.utils.get_file tensorflow.keras.utils.get_file \
         nltk.downloader nltk.download gensim.downloader spacy.cli xgboost.tracker xgboost.collective \
         tqdm.contrib.telegram tqdm.contrib.discord tqdm.contrib.slack",
    ),
    (
        Capability::NetworkListen,
        "tornado flask fastapi starlette uvicorn hypercorn daphne gunicorn waitress werkzeug bottle cherrypy \
         pyramid django sanic quart falcon litestar connexion aiohttp_cors socketio engineio \
         bokeh dash streamlit gradio panel voila nicegui shiny solara notebook jupyter_server jupyterlab \
         jupyterhub debugpy pydevd rpdb remote_pdb web_pdb smtpd aiosmtpd pyftpdlib tensorboard \
         matplotlib.backends.backend_webagg matplotlib.backends.backend_webagg_core",
    ),
    (
        Capability::Exec,
        "plumbum execnet sh sarge delegator envoy invoke fabric ansible pexpect ptyprocess psutil multiprocess \
         pathos ppft billiard loky mpire pebble ipyparallel mpi4py dask distributed apscheduler \
         docker podman kubernetes testcontainers git gitdb hglib pygit2 dulwich virtualenv nox tox \
         nbclient nbconvert papermill mypy cmdstanpy rpy2 oct2py matlab juliacall julia jpype pyperclip \
         py4j cpuinfo GPUtil memory_profiler pyautogui pynput xvfbwrapper kaleido ffmpeg moviepy imageio_ffmpeg \
         graphviz pydot pygraphviz pypandoc pdfkit weasyprint wkhtmltopdf pytesseract subprocess32 \
         conda mamba poetry pdm hatch flit pipx uv \
         matplotlib.testing matplotlib.texmanager matplotlib.dviread matplotlib.backends.backend_pgf \
         matplotlib.animation.FFMpegWriter matplotlib.animation.FFMpegFileWriter matplotlib.animation.FFMpegBase \
         matplotlib.animation.ImageMagickWriter matplotlib.animation.ImageMagickFileWriter \
         matplotlib.animation.ImageMagickBase matplotlib.animation.MovieWriter \
         matplotlib.animation.FileMovieWriter matplotlib.animation.writers \
         numpy.f2py numpy.distutils numpy.testing.extbuild pandas.io.clipboard pandas.io.clipboards pyarrow.plasma plotly.io.orca \
         plotly.io.kaleido statsmodels.tsa.x13 statsmodels.tools.parallel networkx.nx_agraph networkx.nx_pydot \
         networkx.drawing.nx_agraph networkx.drawing.nx_pydot PIL.ImageShow PIL.ImageGrab \
         torch.multiprocessing joblib.executor joblib.pool tqdm.cli tqdm.contrib.concurrent \
         setuptools._distutils nltk.parse.malt nltk.tag.stanford nltk.internals",
    ),
    (
        Capability::Deserialize,
        "cloudpickle dill jsonpickle pickle5 pickleshare zodbpickle ZODB persistent klepto hickle deepdish \
         sqlitedict diskcache sklearn2pmml srsly numcodecs zarr yaml ruamel oyaml \
         joblib.memory joblib.numpy_pickle joblib.externals pyarrow.serialization torch.hub torch.jit \
         torch.package torch.serialization torch.export tensorflow.saved_model gensim.utils.SaveLoad",
    ),
    (
        Capability::Native,
        "numba llvmlite cffi _cffi_backend cython Cython pyximport pybind11 nanobind cppyy pythran pycuda \
         pyopencl cupy taichi triton pytensor theano aesara pymc tvm tensorrt comtypes win32com win32api \
         pythoncom pywintypes objc gi dbus pyudev usb serial evdev forbiddenfruit pynvml \
         numpy.ctypeslib numpy.lib.stride_tricks.as_strided pyarrow.cffi pyarrow.cuda pyarrow.jvm pyarrow.gandiva \
         torch.utils.cpp_extension torch.utils.dlpack torch.ops torch.classes torch.compile torch.compiler \
         tensorflow.load_library tensorflow.load_op_library onnxruntime.capi",
    ),
    (
        Capability::DynamicCode,
        "IPython ipykernel ipywidgets jupyter jupyter_core pytest _pytest py pluggy nose nose2 hypothesis unittest2 \
         sympy numexpr patsy formulaic asteval simpleeval RestrictedPython jinja2 mako Mako chameleon Cheetah \
         pkg_resources setuptools pip wheel build installer distlib \
         importlib_metadata importlib_resources stevedore entrypoints six.moves future.standard_library \
         future.moves past pyparsing.testing traitlets hydra omegaconf pydantic attr.make_class attrs.make_class \
         sphinx pudb ipdb bpython ptpython codetransformer bytecode macropy pyodide \
         pandas.core.computation numpy.testing.measure numpy.testing.rundocs numpy.testing.runstring \
         numpy.testing.run_module_suite matplotlib.sphinxext torch.fx",
    ),
    (
        Capability::Reflect,
        "mock wrapt gorilla greenlet objgraph pympler guppy executing stack_data icecream varname sorcery fire \
         coverage line_profiler pyinstrument viztracer hunter snoop pysnooper heartrate wurlitzer \
         pandas.compat",
    ),
    (
        Capability::FsRead,
        "h5py tables openpyxl xlrd xlwt xlsxwriter pyxlsb odf fastparquet pyreadstat pyreadr cv2 imageio tifffile \
         rasterio fiona geopandas pyogrio watchdog fs path pyfakefs",
    ),
    (
        Capability::ReadSystemState,
        "dotenv environs decouple dynaconf platformdirs appdirs distro keyring loguru structlog",
    ),
    (
        Capability::ModifySystemState,
        "freezegun time_machine responses vcr moto",
    ),
];

static BY_NAME: LazyLock<HashMap<&'static str, Capability>> = LazyLock::new(|| {
    let each = TABLE.iter();
    each.flat_map(|(capability, names)| names.split_whitespace().map(|name| (name, *capability)))
        .collect()
});

/// The capability of a package, or of the part of one that a dotted name denotes.
pub(super) fn package_capability(path: &str) -> Option<Capability> {
    // The only part of IPython that just displays values.
    if path == "IPython.display" || path.starts_with("IPython.display.") {
        return None;
    }
    let ends = path.match_indices('.').map(|(at, _)| at);
    ends.chain([path.len()])
        .find_map(|end| BY_NAME.get(path.get(..end)?))
        .copied()
}
