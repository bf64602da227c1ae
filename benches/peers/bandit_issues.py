"""What bandit says of each example: reads JSON lines with `code`, prints the tests that matched.

    python bandit_issues.py < examples.jsonl > issues.jsonl

bandit's own defaults: every test, every severity and confidence.
"""

import io
import json
import logging
import sys

from bandit.core import config, manager

logging.disable(logging.CRITICAL)

for line in sys.stdin:
    code = json.loads(line)["code"]
    bandit = manager.BanditManager(config.BanditConfig(), "file")
    bandit._parse_file("example.py", io.BytesIO(code.encode()), ["example.py"])
    print(json.dumps([[issue.test_id, issue.severity] for issue in bandit.results]))
