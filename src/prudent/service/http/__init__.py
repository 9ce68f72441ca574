"""The service over HTTP: from the bytes of a request to the verb, and back.

accesses.py    who came in, and which tokens were made and ended: a list for those who are responsible
api.py         the API: one table of routes, from which the paths, the checks of tokens and bodies
app.py         the service over HTTP: from a request to the verb, and back
deadlines.py   deadlines for callers, on top of uvicorn's HTTP: for headers, for bodies
flags.py       experiments as feature flags: OpenFeature's remote evaluation protocol (OFREP), and its tracking events
local.py       the service of a database without a server, for programs here: requests go straight to the application
metrics.py     numbers for Prometheus
openapi.py     the table of routes as an OpenAPI 3.1 document
processes.py   the processes of the service: workers that are replaced, and an end that comes in time
reading.py     the query and the body of a request, as the types of its route, or as the fields and files of a form
routes.py      what the service is made of over HTTP: a row of the table of routes, and a request that has come in
server.py      serving: the address, the first token, workers, and an orderly end
sessions.py    who is signed in: sessions of browsers, each of a token
single_sign_on.py  single sign-on: a proxy that is trusted says in a header who somebody is
tokens.py      who may do what: tokens with scopes, for all experiments or some, until they expire or are revoked
webhooks.py    who is told of what happens: targets of webhooks, which an administrator names
"""
