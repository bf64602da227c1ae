"""What the peers take from the order to the first byte and to the end, in milliseconds.

Prints {name: {"first": [...], "end": [...]}} as JSON. Arguments: the table as csv, how many samples.
Run by the Python that has the peers; `python -I` and bwrap start the one given third.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

TRIVIAL = "print(6 * 7)"
GROUPED = "print({read}.groupby('region')['amount'].mean())"

Times = tuple[float, float]


def main() -> None:
    table, samples, python = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    read = f"pd.read_csv({table!r})"
    whole = "import pandas as pd\n" + GROUPED.format(read=read)
    jail = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/"]
    found: dict[str, dict[str, list[float]]] = {}

    def take(name: str, once: Callable[[], Times], warm: bool) -> None:
        if warm:
            once()
        times = [once() for _ in range(samples)]
        found[name] = {"first": [one for one, _ in times], "end": [two for _, two in times]}

    for work, code in (("trivial", TRIVIAL), ("group-by", whole)):
        start = [python, "-I", "-c", code]
        take(f"python -I, {work}", lambda start=start: process(start), warm=True)
        if shutil.which("bwrap"):
            take(f"bwrap + python -I, {work}", lambda start=start: process(jail + start), warm=True)
    sandtrap(take, table)
    jupyter(take, whole)
    print(json.dumps(found))


def process(command: list[str]) -> Times:
    begun = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.read(1)
        first = time.perf_counter()
        child.stdout.read()
    if child.returncode:
        raise SystemExit(f"{command[0]} ended with status {child.returncode}")
    return (first - begun) * 1e3, (time.perf_counter() - begun) * 1e3


def sandtrap(take: Callable[[str, Callable[[], Times], bool], None], table: str) -> None:
    """Its prints come with its answer: the first byte is the end. The frame is handed over."""
    import pandas
    from sandtrap import Policy, sandbox

    policy = Policy()
    policy.module(pandas, recursive=True)
    frame = pandas.read_csv(table)
    for isolation in ("none", "process", "kernel"):
        with sandbox(policy, isolation=isolation) as kept:  # type: ignore[arg-type]

            def run(code: str, given: dict[str, object], kept: object = kept) -> Times:
                begun = time.perf_counter()
                answer = kept.exec(code, namespace=given)  # type: ignore[attr-defined]
                ended = (time.perf_counter() - begun) * 1e3
                if not answer.stdout:
                    raise SystemExit(f"sandtrap {isolation}: {answer.error}")
                return ended, ended

            take(f"sandtrap {isolation}, one process, trivial", lambda: run(TRIVIAL, {}), True)
            code = GROUPED.format(read="frame")
            take(
                f"sandtrap {isolation}, one process, group-by",
                lambda: run(code, {"frame": frame}),
                True,
            )


def jupyter(take: Callable[[str, Callable[[], Times], bool], None], whole: str) -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:

        def run(code: str) -> Times:
            begun = time.perf_counter()
            first = 0.0
            client.execute(code)
            while True:
                message = client.get_iopub_msg(timeout=60)
                if message["msg_type"] == "stream" and not first:
                    first = time.perf_counter()
                if message["content"].get("execution_state") == "idle" and first:
                    return (first - begun) * 1e3, (time.perf_counter() - begun) * 1e3

        take("Jupyter, one kernel, trivial", lambda: run(TRIVIAL), True)
        take("Jupyter, one kernel, group-by", lambda: run(whole), True)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
