"""Logs of an application in production -> trends, alarms, gaps."""
