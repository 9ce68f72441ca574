"""Live experiments over HTTP: a log that is the truth, its fold, two databases, and an API.

    request → queue → writer: one transaction for all that waits → answer

`messages` says what is asked and answered, `spec` what an experiment is, `events` what the log holds, `fold` the state
after some events, `verbs` which events a request gives, `store` the database, `writer` the one thread that writes.
"""
