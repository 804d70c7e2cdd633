"""All counts of labels in Parquet by a query in DuckDB; runs in an environment of its own, without this project.

    python _duckdb_task.py LABELS.csv FOLDER FIRST SECOND

Prints how many seconds the query took at best and by median, as JSON; the rows are in FOLDER/counts.json.
"""

import json
import sys
import time
from pathlib import Path
from statistics import median

import duckdb

REPEATS = 9
# One row an answer, its label by each detector; both for the mean. Then each turn, and each turn with those before it.
COUNTS = """
WITH answers AS (
    SELECT model, turn, premise_class, complexity, category,
           max(detect) FILTER (detector = $first) AS a, max(detect) FILTER (detector = $second) AS b
    FROM read_parquet($file) GROUP BY item, model, turn, premise_class, complexity, category
), turns AS (
    SELECT model, turn, premise_class, complexity, category,
           count(a) AS n_a, sum(a) AS c_a, count(b) AS n_b, sum(b) AS c_b, count(a + b) AS n_m, sum((a + b) / 2) AS c_m
    FROM answers
    GROUP BY GROUPING SETS (
        (model, turn), (model, turn, premise_class), (model, turn, complexity), (model, turn, category)
    )
)
SELECT model, turn, coalesce(premise_class, complexity, category, 'overall') AS level, n_a, c_a, n_b, c_b, n_m, c_m,
       sum(n_a) OVER up_to, sum(c_a) OVER up_to, sum(n_b) OVER up_to, sum(c_b) OVER up_to, sum(n_m) OVER up_to,
       sum(c_m) OVER up_to
FROM turns
WINDOW up_to AS (PARTITION BY model, premise_class, complexity, category, turn > 3 ORDER BY turn)
"""


def main(labels: str, folder: str, first: str, second: str) -> None:
    file = str(Path(folder) / "labels.parquet")
    connection = duckdb.connect()
    connection.execute(f"COPY (SELECT * FROM read_csv('{labels}')) TO '{file}' (FORMAT parquet)")
    times = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        rows = connection.execute(COUNTS, {"file": file, "first": first, "second": second}).fetchall()
        times.append(time.perf_counter() - begun)
    (Path(folder) / "counts.json").write_text(json.dumps([[_plain(value) for value in row] for row in rows]))
    sys.stdout.write(json.dumps({"best": min(times), "median": median(times)}))


def _plain(value: object) -> object:
    return value if isinstance(value, str) else float(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
