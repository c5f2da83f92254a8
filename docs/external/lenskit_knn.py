"""LensKit's item neighbours for RecAssay: run as `python lenskit_knn.py FOLDER` in an environment with lenskit."""

import json
import sys
from pathlib import Path

import pandas as pd
from lenskit.batch import recommend
from lenskit.data import from_interactions_df
from lenskit.knn import ItemKNNScorer
from lenskit.pipeline import topn_pipeline

folder = Path(sys.argv[1])
request = json.loads((folder / "request.json").read_text())
train = pd.read_parquet(folder / "train.parquet", columns=["user", "item"]).drop_duplicates()
train.columns = ["user_id", "item_id"]

scorer = ItemKNNScorer(feedback="implicit", **request["parameters"])
pipeline = topn_pipeline(scorer, n=request["k"])
pipeline.train(from_interactions_df(train))
answers = recommend(pipeline, sorted(train["user_id"].unique().tolist()), n=request["k"], n_jobs=1)

rows = [
    pd.DataFrame({"user": key.user_id, "item": answer.ids(), "score": answer.scores()})
    for key, answer in answers
    if len(answer)
]
lists = pd.concat(rows) if rows else pd.DataFrame({"user": [], "item": [], "score": []})
lists = lists[lists["score"].notna()]
lists.to_parquet(folder / "recommendations.parquet", index=False)
