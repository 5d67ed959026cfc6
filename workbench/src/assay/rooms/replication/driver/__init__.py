"""The program that a replication study measures, on both hosts: it imports nothing but Python's own library.

A run sends it to the hosts as a zip file (`expansion.py`). Task 1 of a repeat is the source (`main.py`), task 2 the
replica (`standby.py`).
"""
