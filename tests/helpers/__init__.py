"""What several files of tests share: laws, policies, calls and results to test with, and what they are compared to."""
