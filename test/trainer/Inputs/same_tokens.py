"""same_tokens.py FILE...: outputs of taylor-generate --json that hold the same tokens."""
import json
import sys

outputs = []
for path in sys.argv[1:]:
    with open(path) as f:
        outputs.append(json.load(f))
assert len(outputs[0]["tokens"]) > 5
assert all(output["tokens"] == outputs[0]["tokens"] for output in outputs), [output["tokens"] for output in outputs]
