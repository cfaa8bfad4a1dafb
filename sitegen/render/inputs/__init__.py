"""Prepare what pages are made from: the linked site, its records, and the rows that tables and charts show."""
