"""How fast the job is (bench.py), and how close its values are to those of other tools (parity/)."""
