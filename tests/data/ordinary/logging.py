import logging
import sys
import traceback
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(levelname)s %(message)s")
log = logging.getLogger(__name__)
log.info("starting %d", 1)
try:
    1 / 0
except ZeroDivisionError:
    log.warning("failed")
    print(traceback.format_exc().splitlines()[-1])
