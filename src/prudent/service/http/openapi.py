"""The table of routes as an OpenAPI 3.1 document, which docs/reference/openapi.json keeps and a test compares."""

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

import prudent
from prudent.service.http.app import NAMED
from prudent.service.http.reading import types_of
from prudent.service.http.routes import JSON, PROBLEM, Route
from prudent.service.http.tokens import SCOPES
from prudent.service.problems import KINDS

WHERE = "#/components/schemas/{name}"
HEADERS = {
    "Idempotency-Key": (
        "Makes a second try harmless: the same key with the same body gives the same answer.",
        {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[ -~]+$"},
    ),
    "If-Match": (
        "The ETag of the experiment that the change is meant for.",
        {"type": "string", "pattern": '^("[0-9]{1,18}"|\\*)$'},
    ),
    "If-None-Match": ("The ETag of the answer that the caller has.", {"type": "string"}),
}
PROBLEM_SCHEMA = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 has it. There may be further members.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "enum": [f"/problems/{kind}" for kind in KINDS]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
    },
}


def document(routes: Iterable[Route]) -> bytes:
    """The document as JSON, laid out for people."""
    routes = list(routes)
    kinds = [kind for route in routes for kind in _types(route) if _is_type(kind)]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=WHERE)
    for component in components.values():
        if "description" in component:  # a docstring, whose indentation Python keeps before 3.13
            component["description"] = cleandoc(component["description"])
    known = dict(zip(map(_name, kinds), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, known, components)
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "prudent",
            "version": prudent.__version__,
            "summary": "Live experiments with risk-averse bandits.",
            "description": "Times are milliseconds since 1970. Scopes of tokens: "
            + "; ".join(f"{scope}: {what}" for scope, what in SCOPES.items())
            + ".",
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Problem": PROBLEM_SCHEMA},
            "responses": {str(status): _problems(status) for status in {kind.status for kind in KINDS.values()}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return msgspec.json.format(msgspec.json.encode(whole, order="sorted"), indent=1) + b"\n"


def _operation(route: Route, known: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    text = cleandoc(route.does.__doc__ or "")
    if len(types_of(route.body)) == 1:  # many routes share one function, and differ by what is asked
        text = cleandoc(types_of(route.body)[0].__doc__ or text)
    found: dict[str, Any] = {
        "operationId": _id(route),
        "summary": text.partition("\n\n")[0].replace("\n", " "),
        "responses": _responses(route, known),
    }
    if route.scope:
        found["security"] = [{"token": []}]
        found["description"] = f"Needs a token with the scope {route.scope}."
    if parameters := [*_in_path(route), *_in_query(route, components), *_in_header(route)]:
        found["parameters"] = parameters
    if bodies := types_of(route.body):
        schemas = [known[_name(body)] for body in bodies]
        found["requestBody"] = {
            "required": all(_required(body) for body in bodies),
            "content": {JSON: {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}}},
        }
    return found


def _responses(route: Route, known: dict[str, Any]) -> dict[str, Any]:
    """Every status, with what the body then is."""
    found: dict[str, Any] = {}
    for status in route.statuses:
        again = status == 200 != route.statuses[0]
        said = "The same as before" if again else "Some or all were refused" if status == 207 else "Done"
        found[str(status)] = {"description": said}
        if status == 304:
            found["304"] = {"description": "Nothing has changed"}
        elif _is_type(route.answer):
            found[str(status)]["content"] = {JSON: {"schema": known[_name(route.answer)]}}
        elif route.answer is not None:
            found[str(status)]["content"] = {media: {} for media in route.answer}
    if route.failure is not None:
        schema = known[_name(route.failure)]
        for status in {route.failure.status(KINDS[kind].status) for kind in route.kinds}:
            found[str(status)] = {"description": "No value", "content": {JSON: {"schema": schema}}}
        return found
    for status in {KINDS[kind].status for kind in route.kinds}:
        if str(status) in found:  # readiness says in its own way why it is not given
            found[str(status)]["content"] |= _problems(status)["content"]
        else:
            found[str(status)] = {"$ref": f"#/components/responses/{status}"}
    return found


def _types(route: Route) -> tuple[Any, ...]:
    """What its bodies, its answers and its query are."""
    return *types_of(route.body), route.answer, route.failure, route.query


def _problems(status: int) -> dict[str, Any]:
    """What may be wrong if this is the status."""
    titles = [kind.title for kind in KINDS.values() if kind.status == status]
    schema = {"$ref": WHERE.format(name="Problem")}
    return {"description": "; or: ".join(titles), "content": {PROBLEM: {"schema": schema}}}


def _in_path(route: Route) -> list[Any]:
    name = route.parameter
    pattern = {"pattern": f"^{NAMED[name].pattern}$"} if name in NAMED else {}
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string", **pattern}}] if name else []


def _in_query(route: Route, components: dict[str, Any]) -> list[Any]:
    if route.query is None:
        return []
    members = components[_name(route.query)]["properties"]
    return [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in members.items()]


def _in_header(route: Route) -> list[Any]:
    return [
        {"name": name, "in": "header", "required": False, "description": HEADERS[name][0], "schema": HEADERS[name][1]}
        for name in route.headers
    ]


def _is_type(kind: Any) -> bool:
    return kind is not None and not isinstance(kind, tuple)


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", "") if isinstance(kind, type) and not hasattr(kind, "__args__") else repr(kind)


def _required(body: Any) -> bool:
    return any(field.required for field in msgspec.structs.fields(body))


def _id(route: Route) -> str:
    """A name for programs that are made from this document: the verb, then what of the path is not a parameter."""
    words = [part for part in route.path.split("/") if part and part != "v1" and not part.startswith("{")]
    one = "-one" if route.path.endswith("}") else ""
    return f"{route.method.lower()}-{'-'.join(words).replace('.', '-')}{one}"


if __name__ == "__main__":
    import sys

    from prudent.service.http.api import ROUTES

    sys.stdout.buffer.write(document(ROUTES))
