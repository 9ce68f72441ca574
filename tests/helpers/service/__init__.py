"""What the tests of the service share: processes, clients, databases, and clocks that tests set."""
