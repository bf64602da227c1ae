import marshal
import posix

bundle = b""
while piece := posix.pread(6, 1 << 20, len(bundle)):
    bundle += piece
posix.close(6)
del piece
if bundle[:1] == b"m":
    bundle = marshal.loads(bundle[1:])  # noqa: S302 - sealed by the broker
    boot = marshal.loads(bundle["boot"])  # noqa: S302 - the same
else:
    import json

    bundle = json.loads(bundle)
    boot = compile(bundle["boot"], "<runner>/boot.py", "exec")
exec(boot)  # noqa: S102 - the runner itself
