"""The log of each experiment, which is the truth: its events, the state they add up to, and two databases.

address.py    where a database is: a file of SQLite, or an address of PostgreSQL
events.py     the log of an experiment: its events, and the chain that shows whether one of them was altered
follower.py   a reader that replays every log beside the writer
patience.py   how long a server of databases is waited for: one that stands still costs a request some seconds
postgres.py   PostgreSQL 15 or later: any number of workers, who take turns at each experiment
replay.py     reading a log: its events in order, the state that they lead to
rows.py       the tables that follow from the log: what became of each decision, and which keys were used
sqlite.py     SQLite: one file, one process that serves it, one connection that writes
state.py      the state of an experiment: what its events so far add up to
store.py      what the service keeps: its tables, the same in both databases
verify.py     whether a log is whole: every event follows from those before it, its chain is the one recorded
"""
