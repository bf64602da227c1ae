import configparser
import logging
from pathlib import Path

logging.basicConfig(
    filename="pipeline.log",
    filemode="w",
    level=logging.INFO,
    format="%(levelname)s|%(name)s|%(message)s",
)
logger = logging.getLogger("etl")

cfg = configparser.ConfigParser()
cfg["DEFAULT"] = {"retries": "3", "verbose": "no"}
cfg["input"] = {"path": "in.csv", "retries": "5"}
cfg["output"] = {"path": "%(folder)s/out.csv", "folder": "results", "verbose": "yes"}
with open("settings.ini", "w") as fh:
    cfg.write(fh)

loaded = configparser.ConfigParser()
loaded.read("settings.ini")
for section in loaded.sections():
    s = loaded[section]
    logger.info("section=%s retries=%d", section, s.getint("retries"))
    if not s.getboolean("verbose"):
        logger.warning("section %s is not verbose", section)
    print(section, "->", s["path"], s.getint("retries"), s.getboolean("verbose"))

print(loaded.get("input", "missing", fallback="<default>"))
logging.shutdown()

log_lines = Path("pipeline.log").read_text().splitlines()
print(f"{len(log_lines)} log lines")
for line in log_lines:
    level, name, msg = line.split("|", 2)
    print(f"[{level:<7}] {msg}")
