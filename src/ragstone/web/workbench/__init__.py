"""The workbench: runs, data sets, judges and people's labels, in a browser."""
