"""The bodies of requests and answers, from docs/reference/openapi.json."""

import json
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parents[1] / "reference/openapi.json"


def bodies(_: str) -> str:
    """A section for each path and verb, then one for each kind of body."""
    whole = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    parts = ["## Paths and verbs\n"]
    parts += [operation(verb, path, found) for path, verbs in whole["paths"].items() for verb, found in verbs.items()]
    parts.append("## Bodies\n")
    parts += [body(name, schema) for name, schema in whole["components"]["schemas"].items()]
    return "\n".join(parts)


def operation(verb: str, path: str, found: dict[str, Any]) -> str:
    """What a request asks for, what it sends and what comes back."""
    lines = [f"### `{verb.upper()} {path}`\n", found.get("summary", ""), ""]
    for parameter in found.get("parameters", []):
        needed = ", required" if parameter.get("required") else ""
        words = parameter.get("description", "")
        kind = shown(parameter["schema"])
        lines.append(f"- `{parameter['name']}` in the {parameter['in']}{needed}: {kind}{'. ' if words else ''}{words}")
    if sent := found.get("requestBody"):
        lines.append(f"- sends {kinds(sent)}")
    for status, answer in found["responses"].items():
        if status.startswith("2") and "content" in answer:
            lines.append(f"- answers {status} with {kinds(answer)}")
    problems = [status for status, answer in found["responses"].items() if "$ref" in answer]
    if problems:
        lines.append(f"- [problems](#problem): {', '.join(problems)}")
    return "\n".join(lines) + "\n"


def kinds(carrier: dict[str, Any]) -> str:
    """The kinds of a body, each with its type of content if that is not JSON."""
    return ", or ".join(
        shown(content.get("schema", {})) + ("" if kind == "application/json" else f" as `{kind}`")
        for kind, content in carrier["content"].items()
    )


def body(name: str, schema: dict[str, Any]) -> str:
    """The members of a body."""
    lines = [f"({name.lower()})=\n### {name}\n", " ".join(schema.get("description", "").split()), ""]
    members, needed = schema.get("properties", {}), schema.get("required", [])
    if members:
        lines += ["| member | is | needed |", "|---|---|---|"]
        lines += [f"| `{key}` | {shown(kind)} | {'yes' if key in needed else ''} |" for key, kind in members.items()]
    return "\n".join(lines) + "\n"


PLAIN = {
    "object": "an object",
    "null": "null",
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
}


def shown(schema: dict[str, Any]) -> str:
    """A type in words, for a cell of a table."""
    for key, words in (("$ref", reference), ("anyOf", either), ("oneOf", either), ("enum", values)):
        if key in schema:
            return words(schema[key])
    if schema.get("type") == "array":
        items = [schema["items"]] if schema.get("items") else []
        return f"a list of {' and '.join(map(shown, schema.get('prefixItems', items))) or 'anything'}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"an object whose values are {shown(schema['additionalProperties'])}"
    return PLAIN.get(schema.get("type", ""), "anything")


def reference(address: str) -> str:
    """A link to the section of a kind of body."""
    name = address.rpartition("/")[2]
    return f"[{name}](#{name.lower()})"


def either(choices: list[dict[str, Any]]) -> str:
    """One of several types."""
    return " or ".join(map(shown, choices))


def values(choices: list[Any]) -> str:
    """One of several values."""
    return " or ".join(f"`{value}`" for value in choices)
