"""Whether a JSON value is valid by a schema. References are resolved within the schema alone: nothing is fetched."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import best_match
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable


def schema_fault(value: Any, schema: Any) -> str:
    """What is wrong with the value, or why the schema cannot judge it; "" where the value is valid."""
    try:
        validator = validator_for(schema, default=Draft202012Validator)
        validator.check_schema(schema)
        # An empty registry retrieves nothing; the published meta-schemas are in it all the same.
        error = best_match(validator(schema, registry=Registry()).iter_errors(value))
    except SchemaError as wrong:
        return f"the schema itself is not valid: {wrong.message[:200]}"
    except Unresolvable as missing:
        return f"the schema refers to {str(missing.ref)[:200]!r}, which is not part of it (moonpad fetches no schema)"
    except RecursionError:
        return "the schema refers to itself without end, or the value is nested too deeply"
    except (AttributeError, LookupError, TypeError, ValueError) as wrong:
        return f"the schema cannot be read: {str(wrong)[:200] or type(wrong).__name__}"
    return error.message[:200] if error else ""
