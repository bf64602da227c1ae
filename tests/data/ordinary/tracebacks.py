import traceback

def parse(text):
    try:
        return int(text)
    except ValueError as error:
        raise RuntimeError("bad row") from error

try:
    parse("x")
except RuntimeError as error:
    lines = traceback.format_exc().splitlines()
    print(lines[-1], "direct cause" in traceback.format_exc())
    print(traceback.format_exception_only(error))
