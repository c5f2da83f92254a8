"""implicit's ALS for RecAssay: run as `python implicit_als.py FOLDER` in an environment with implicit and pyarrow."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix

folder = Path(sys.argv[1])
request = json.loads((folder / "request.json").read_text())
train = pq.read_table(folder / "train.parquet", columns=["user", "item"])
users, items = (train[name].to_numpy() for name in ("user", "item"))
shape = request["n_users"], request["n_items"]
matrix = csr_matrix((np.ones(len(users), dtype=np.float32), (users, items)), shape=shape)
matrix.data[:] = 1.0

model = AlternatingLeastSquares(**request["parameters"], random_state=request["seed"], num_threads=1)
model.fit(matrix, show_progress=False)
everyone = np.arange(shape[0])
found, scores = model.recommend(everyone, matrix, N=request["k"], filter_already_liked_items=True)

# Where a user has nearly everything, implicit fills the list with items that are seen, at the lowest float.
there = (found >= 0) & (scores > np.finfo(np.float32).min)
row, place = np.nonzero(there)
lists = {"user": everyone[row], "item": found[row, place], "score": scores[row, place]}
pq.write_table(pa.table(lists), folder / "recommendations.parquet")
