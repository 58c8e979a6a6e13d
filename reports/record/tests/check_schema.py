# SPDX-License-Identifier: Apache-2.0
# Validates reports against report.schema.json: the golden example and the corpus pass, broken ones do not, and the
# schema names every field that is written. Exit code 77: the jsonschema module is missing.
import copy
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError as error:
    print(f"skipped: {error}; install python3-jsonschema")
    sys.exit(77)

tests = pathlib.Path(__file__).resolve().parent


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def without_room_for_more(schema):
    """The same schema, but an object with named fields may have no others."""
    if isinstance(schema, list):
        return [without_room_for_more(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {key: value if key in ("if", "anyOf", "else") else without_room_for_more(value)
              for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        strict["additionalProperties"] = False
    return strict


def changed(report, pointer, value):
    """A copy of the report with another value at the JSON pointer; None takes the field away."""
    other = copy.deepcopy(report)
    *way, last = [int(step) if step.isdigit() else step for step in pointer.strip("/").split("/")]
    place = other
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return other


BROKEN = [
    ("/schema", "gpusizer.report/2"),
    ("/created_utc", "31.1.2026"),
    ("/cases", None),
    ("/cases/0/id", ""),
    ("/cases/0/status", "fine"),
    ("/cases/1/reason", ""),
    ("/cases/0/config/seed", -1),
    ("/cases/0/config/batch_per_replica", 0),
    ("/cases/0/measurement/samples", None),
    ("/cases/0/measurement/samples", 1.5),
    ("/cases/0/measurement/step_seconds/0", "0.1"),
    ("/cases/0/throughput/value", 0),
    ("/cases/1/throughput/null_reason", None),
    ("/cases/1/memory/null_reasons", None),
    ("/cases/0/training/accuracy", 91.2),
    ("/environment/cpu_flags", "avx2"),
    ("/cases/3/config/parallel/dp", 0),
    ("/cases/3/config/parallel/stages", None),
    ("/cases/3/communication/rank_step_seconds", None),
    ("/cases/3/communication/all_reduces/1/null_reasons", None),
    ("/cases/3/scaling/kind", "odd"),
    ("/cases/3/scaling/efficiency", None),
]


def main():
    schema = load(tests.parent / "report.schema.json")
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    example_path = tests / "golden" / "example_report.json"
    corpus = sorted((tests / "corpus").glob("*.json"))
    faults = [] if corpus else ["tests/corpus holds no report"]
    for path in [example_path, *corpus]:
        faults += [f"{path.name}: {fault.json_path}: {fault.message}" for fault in validator.iter_errors(load(path))]

    example = load(example_path)
    strict = Draft202012Validator(without_room_for_more(schema))
    faults += [f"not in the schema: {fault.json_path}: {fault.message}" for fault in strict.iter_errors(example)]
    for pointer, value in BROKEN:
        if validator.is_valid(changed(example, pointer, value)):
            faults.append(f"passes, but must not: {pointer} = {value!r}")
    if not validator.is_valid({**example, "of_a_later_version": 1}):
        faults.append("an unknown field must pass")

    for fault in faults:
        print(fault)
    print(f"{1 + len(corpus)} reports and {len(BROKEN)} broken ones: {len(faults)} faults")
    return 1 if faults else 0


sys.exit(main())
