"""The journal: a line in a CSV file for everything that was done on a row."""

import csv
from datetime import date
from pathlib import Path

FIELDS = ("day", "row", "action", "amount")


def append_entry(path: Path, day: date, row: int, action: str, amount: float) -> None:
    """Write an entry at the end of the journal; the header is written first if the file is new."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        writer.writerow([day.isoformat(), row, action, amount])


def total_amount(path: Path, row: int, action: str) -> float:
    """Return the sum of the amounts of one action on one row; 0 if the journal has none."""
    with path.open(newline="", encoding="utf-8") as file:
        entries = list(csv.DictReader(file))
    return sum(
        float(each["amount"]) for each in entries if each["row"] == str(row) and each["action"] == action
    )
