# /// script
# requires-python = "==3.11.*"
# dependencies = ["irrCAC==0.4.4", "pandas==2.3.3"]
# ///
"""Records what irrCAC says of random tables: `uv run --no-project tests/data/irrcac.py > tests/data/irrcac.csv`.

It asks for older releases of pandas and SciPy than this project, so that it runs in an environment of its own.
"""

import sys
import warnings

import numpy as np
import pandas as pd
from irrCAC.raw import CAC

TABLES = 1_000


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(2008)
    sys.stdout.write("a,b,c,d,ac1,ac1_se,pabak,kappa,alpha\n")
    for _ in range(TABLES):
        n = int(rng.choice([4, 12, 40, 160]))
        table = rng.multinomial(n, rng.dirichlet([0.8] * 4))
        if 0 in ((2 * table[0] + table[1] + table[2]), (2 * table[3] + table[1] + table[2])):
            table = np.array([n - 2, 1, 0, 1])  # irrCAC takes no table with one label throughout
        a, b, c, d = (int(count) for count in table)
        first = ["yes"] * (a + b) + ["no"] * (c + d)
        second = ["yes"] * a + ["no"] * b + ["yes"] * c + ["no"] * d
        cac = CAC(pd.DataFrame({"first": first, "second": second}), digits=12)
        found = [cac.gwet()["est"], cac.bp()["est"], cac.conger()["est"], cac.krippendorff()["est"]]
        gwet, bp, conger, alpha = found
        values = (gwet["coefficient_value"], gwet["se"], bp["coefficient_value"])
        more = (conger["coefficient_value"], alpha["coefficient_value"])
        sys.stdout.write(
            ",".join([str(a), str(b), str(c), str(d), *(f"{value:.12g}" for value in (*values, *more))]) + "\n"
        )


main()
