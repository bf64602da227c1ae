# Run by an interpreter with `-I -S`: prints one JSON object about that interpreter. Runs nothing of the
# environment it describes (no `.pth` file, no sitecustomize): imports only the standard library.
import json
import os
import sys


def find_config():
    # PEP 405: pyvenv.cfg lies beside the executable or one folder up.
    here = os.path.dirname(os.path.abspath(sys.executable))
    for folder in (here, os.path.dirname(here)):
        path = os.path.join(folder, "pyvenv.cfg")
        if os.path.isfile(path):
            return path
    return None


def system_site(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip().lower() == "include-system-site-packages":
                return value.strip().lower() == "true"
    return False


def record_of(dist):
    # The installer's record of every file: a package reinstalled with the same version but other content
    # has another record.
    import hashlib

    text = dist.read_text("RECORD") or dist.read_text("METADATA") or ""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def main():
    answer = {
        "implementation": getattr(sys.implementation, "name", ""),
        "version": list(sys.version_info[:3]),
        "full_version": sys.version,
        "executable": sys.executable and os.path.realpath(sys.executable),
    }
    if sys.version_info < (3, 11):
        return answer

    import importlib.metadata
    import importlib.util
    import re
    import site
    import sysconfig

    config = find_config()
    if config:
        # With `-S` an interpreter does not know that it is in a virtual environment, and Debian's
        # getsitepackages() answers for the system.
        prefix = os.path.dirname(config)
        variables = {"base": prefix, "platbase": prefix}
        sites = [sysconfig.get_path(key, "venv", variables) for key in ("purelib", "platlib")]
        if system_site(config):
            sites += site.getsitepackages([sys.base_prefix])
    else:
        prefix = sys.prefix
        sites = site.getsitepackages([prefix])

    def real(paths):
        seen = []
        for path in paths:
            path = os.path.realpath(path)
            if os.path.exists(path) and path not in seen:
                seen.append(path)
        return seen

    sites = real(sites)
    found = {}
    for dist in importlib.metadata.distributions(path=sites):
        name = dist.metadata["Name"]
        if not name:
            continue
        name = re.sub(r"[-_.]+", "-", name).lower()  # PEP 503
        found.setdefault(name, (dist.version, record_of(dist)))

    answer.update(
        base_prefix=os.path.realpath(sys.base_prefix),
        prefix=os.path.realpath(prefix),
        sys_path=real(sys.path),
        site_packages=sites,
        distributions=[[name, *rest] for name, rest in sorted(found.items())],
        venv=importlib.util.find_spec("venv") is not None,
        ensurepip=importlib.util.find_spec("ensurepip") is not None,
        pip=importlib.util.find_spec("pip") is not None or "pip" in found,
    )
    return answer


print(json.dumps(main()))
