# leaves: first/note.txt second/note.txt settings.ini
import configparser
import email.utils
import filecmp
from datetime import datetime, timezone
from pathlib import Path, PureWindowsPath

import pytz

config = configparser.ConfigParser()
config["DEFAULT"] = {"retries": "3"}
config["output"] = {"path": "%(folder)s/out.csv", "folder": "results", "verbose": "yes"}
with open("settings.ini", "w") as file:
    config.write(file)
loaded = configparser.ConfigParser()
loaded.read("settings.ini")
for section in loaded.sections():
    one = loaded[section]
    print(section, one["path"], one.getint("retries"), one.getboolean("verbose"))
print(loaded.get("input", "missing", fallback="none"))

for name, text in (("first", "a\n"), ("second", "b\n")):
    folder = Path(name)
    folder.mkdir()
    (folder / "note.txt").write_text(text)
print(filecmp.cmp("first/note.txt", "second/note.txt", shallow=False))
print(filecmp.dircmp("first", "second").common_files)

moment = datetime(2023, 11, 14, 22, 13, 20, tzinfo=timezone.utc)
print(email.utils.format_datetime(moment))
print(email.utils.parseaddr("Ada <ada@example.org>"))
print(PureWindowsPath(r"C:\Users\me\file.txt").as_posix())
print(pytz.timezone("Europe/Berlin").localize(datetime(2023, 7, 1)).isoformat())
