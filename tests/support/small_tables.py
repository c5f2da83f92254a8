# ruff: noqa: E501
"""Small files that each show one way in which people write results or lists, or one mistake in them."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile
from typing import Any

import polars as pl

Files = dict[str, str | bytes]

LONG = "algorithm,dataset,metric,value\n"
FOUR = "EASE,d1,ndcg@10,0.3\nEASE,d2,ndcg@10,0.4\nPop,d1,ndcg@10,0.1\nPop,d2,ndcg@10,0.2\n"
TEX = "\\begin{{tabular}}{{l*{{2}}{{c}}}}{}\\end{{tabular}}"


def one(text: str | bytes, name: str = "films.csv", **options: Any) -> tuple[Files, dict[str, Any]]:
    """One file, and how it is read."""
    return {name: text}, options


def several(files: Files, **options: Any) -> tuple[Files, dict[str, Any]]:
    """Several places, or with `folder=True` the folder of them."""
    return files, options


def tex(rows: str, before: str = "", **options: Any) -> tuple[Files, dict[str, Any]]:
    """A table in LaTeX."""
    return one(before + TEX.format(rows), "films.tex", **options)


def document(content: Any, name: str = "films.json", **options: Any) -> tuple[Files, dict[str, Any]]:
    """A document in JSON."""
    return one(json.dumps(content), name, **options)


SMALL_TABLES: dict[str, tuple[Files, dict[str, Any]]] = {
    # Bytes and text
    "empty": one(""),
    "blank lines alone": one("\n \n\n"),
    "no UTF-8": one(b"model,NDCG@10\nEASE\xff,0.1\n"),
    "a NUL": one("model,NDCG@10\nEASE,0.1\nAL\0S,0.2\n"),
    "damaged gzip": one(b"\x1f\x8bno", "films.csv.gz"),
    "cut gzip": one(gzip.compress((LONG + FOUR).encode(), mtime=0)[:-9], "films.csv.gz"),
    "two members of gzip": one(gzip.compress(LONG.encode(), mtime=0) + gzip.compress(FOUR.encode(), mtime=0) + b"\0\0",
                               "films.csv.gz"),
    "something after gzip": one(gzip.compress((LONG + FOUR).encode(), mtime=0) + b"x", "films.csv.gz"),
    "broken UTF-16": one(b"\xff\xfem\0o\0d\0e\0l"[:-2] + b"\xd8", "films.csv"),
    "a column twice": one("model,NDCG@10,NDCG@10\nEASE,0.1,0.2\nPop,0.3,0.4\n"),
    "a column twice, semicolons": one("model;x;x;x\nEASE;0.1;0.2;a\nPop;0.3;0.4;b\n"),
    "a field too many": one("model,dataset,NDCG@10\nEASE,d1,0.1\nPop,d1,0.2,extra\n"),
    "an open quote": one('model,dataset,NDCG@10\nEASE,d1,0.1\nPop,"d1,0.2\nALS,d1,0.3\n'),
    "short lines": one("model,dataset,NDCG@10,HR@10\nEASE,d1,0.1\nPop,d1,0.2,0.4\n"),
    "carriage returns": one((LONG + FOUR).replace("\n", "\r")),
    "a byte order mark": one(b"\xef\xbb\xbf" + (LONG + FOUR).encode()),
    "bars": one((LONG + FOUR).replace(",", "|")),
    "coloured": one((LONG + FOUR).replace("EASE", "\x1b[1mEASE\x1b[0m"), "films.txt"),
    "no header": one("EASE,d1,0.1\nPop,d1,0.2\n"),
    "header alone": one(LONG),
    "no Parquet": one(b"PAR1 is how it begins", "films.parquet"),
    "no workbook": one("model,NDCG@10\nEASE,0.1\n", "films.xlsx"),
    "prose": one("Nothing of interest stands here, and no table.\n", "films.txt"),
    # Long tables
    "long": one(LONG + FOUR),
    "long, other words": one("Recommender,Benchmark,Measure,Score\n" + FOUR),
    "long with runs": one("algorithm,dataset,metric,value,std,runs\nEASE,d1,ndcg@10,0.3,0.02,5\nPop,d1,ndcg@10,0.1,,3\n"),
    "long with a standard error": one("model,dataset,metric,value,stderr\nEASE,d1,NDCG@10,0.3,0.02\n"
                                      "Pop,d1,NDCG@10,0.1,0.01\n"),
    "long with an interval": one("model,dataset,metric,value,lower,upper\nEASE,d1,NDCG@10,0.3,0.26080072,0.33919928\n"
                                 "Pop,d1,NDCG@10,0.1,,\n"),
    "long with two lower ends": one("model,dataset,metric,value,lower,low,upper\nEASE,d1,NDCG@10,0.3,0.2,0.2,0.4\n"),
    "long with details": one("algorithm,dataset,metric,value,framework,version,higher_is_better,protocol\n"
                             "EASE,d1,happiness,3,Mine,1.0,True,p1\nPop,d1,happiness,4,Mine,,false,p1\n"),
    "long without a metric": one("model,dataset,score\nEASE,d1,0.3\nPop,d1,0.1\n"),
    "long, the metric is given": one("model,dataset,score\nEASE,d1,0.3\nPop,d1,0.1\n", metric="recall@20"),
    "long with folds": one("model,dataset,split,NDCG@10\nEASE,d1,0,0.3\nEASE,d1,1,0.5\nPop,d1,0,0.1\nPop,d1,1,0.3\n"),
    "long with phases": one("model,dataset,stage,metric,value\nEASE,d1,dev,NDCG@10,9\nEASE,d1,test,NDCG@10,0.3\n"
                            "Pop,d1,Training,NDCG@10,8\nPop,d1,test,NDCG@10,0.1\n"),
    "long with an unnamed row": one(LONG + "EASE,d1,ndcg@10,0.3\n,d1,ndcg@10,0.4\n"),
    "long with a word for a number": one(LONG + "EASE,d1,ndcg@10,0.3\nPop,d1,ndcg@10,high\n"),
    "long with an average": one(LONG + FOUR + "EASE,Average,ndcg@10,0.35\nPop,Average,ndcg@10,0.15\n"),
    "long without datasets": one("model,metric,value\nEASE,NDCG@10,0.3\nPop,NDCG@10,0.1\n"),
    "long without datasets, given": one("model,metric,value\nEASE,NDCG@10,0.3\nPop,NDCG@10,0.1\n", dataset="books"),
    "a gap in the datasets, given": one(LONG + "EASE,,ndcg@10,0.3\nPop,d1,ndcg@10,0.1\n", dataset="books"),
    "a dataset given in vain": one(LONG + FOUR, dataset="books"),
    "gaps below datasets, given": one("dataset,model,ndcg@10\nd1,EASE,0.3\n,Pop,0.1\nd2,EASE,0.4\n,Pop,0.2\n", dataset="books"),
    "roles given": one("who,where,what,how\n" + FOUR,
                       columns={"algorithm": "who", "dataset": "where", "metric": "what", "value": "how"}),
    "a role that is none": one(LONG + FOUR, columns={"colour": "algorithm"}),
    "a role of no column": one(LONG + FOUR, columns={"value": "score"}),
    "wide in vain": one(LONG + FOUR, wide=True),
    "transposed in vain": one("model,dataset,NDCG@10\nEASE,d1,0.3\nPop,d1,0.1\n", transpose=True),
    "both ways": one("model,d1\nEASE,0.3\n", wide=True, transpose=True),
    "users of a long table": one("model,dataset,query_id,metric,value\nEASE,d1,q1,NDCG@10,0.2\nEASE,d1,q2,NDCG@10,0.6\n"
                                 "Pop,d1,q1,NDCG@10,0.1\nPop,d1,q2,NDCG@10,\n"),
    "instances of models": one("model,dataset,instance_id,accuracy\nA,d1,i1,1\nA,d1,i2,0\nB,d1,i1,1\nB,d1,i2,1\n"),
    "tasks of models": one("model,task,accuracy\nA,t1,0.5\nB,t1,0.7\n"),
    "tasks of systems": one("system,task,accuracy\nA,t1,0.5\nB,t1,0.7\n"),
    # Columns of metrics
    "metrics": one("model,dataset,NDCG@10,HR@10,Time (min)\nEASE,d1,0.3,0.5,2\nPop,d1,0.1,0.2,0.5\n"),
    "percent in one header": one("model,dataset,NDCG@10 (%),HR@10\nEASE,d1,30,0.5\nPop,d1,12.5%,0.2\n"),
    "percent beside bare numbers": one("model,dataset,NDCG@10\nEASE,d1,30%\nPop,d1,12.5\n"),
    "percent beside shares": one("model,dataset,NDCG@10\nEASE,d1,30%\nPop,d1,0.125\n"),
    "marks": one("model,dataset,NDCG@10\nEASE,d1,**0.3**†\nPop,d1,<0.1\nALS,d1,0.2 (best)\nBPR,d1,0.2 (3)\nMF,d1,OOM\n"
                 "FM,d1,-\nNN,d1,-\n"),
    "commas": one('model;dataset;NDCG@10;Time (s)\nEASE;d1;0,3;"1.234,5"\nPop;d1;0,1;12\n'),
    "thousands": one('model,dataset,Time (s)\nEASE,d1,"1,234"\nPop,d1,"12,345.5"\n'),
    "two kinds of commas": one('model,dataset,NDCG@10\nEASE,d1,"0,3"\nPop,d1,0.1\n'),
    "validation alone": one("model,dataset,val_ndcg@10,HR@10\nEASE,d1,0.3,0.5\nPop,d1,0.1,0.2\n"),
    "validation and training": one("model,dataset,val_ndcg@10,train_hr@10\nEASE,d1,0.3,0.5\nPop,d1,0.1,0.2\n"),
    "validation beside training": one("model,dataset,train_ndcg@10,val_ndcg@10,train_hr@10\nEASE,d1,0.9,0.3,0.5\nPop,d1,0.8,0.1,0.2\n"),
    "deviations and errors": one("model,dataset,NDCG@10,std,stderr,HR@10,stderr.1,std.1\nEASE,d1,0.3,0.02,0.01,0.5,0.03,0.06\nPop,d1,0.1,0.04,0.02,0.2,0.01,0.02\n"),
    "errors beside": one("model,dataset,NDCG@10,stderr,HR@10,sem.1\nEASE,d1,0.3,0.02,0.5,0.03\nPop,d1,0.1,0.01,0.2,0.02\n"),
    "deviations in percent": one("model,dataset,NDCG@10 (%),NDCG@10 std (%)\nEASE,d1,30,2\nPop,d1,10,1\n"),
    "minutes with deviations": one("model,dataset,Training time (min)\nEASE,d1,2 ± 0.5\nPop,d1,1 ± 0.25\n"),
    "settings": one("model,dataset,NDCG@10,Happiness,Year,lr,Note\nEASE,d1,0.3,7,2001,0.1,good\nPop,d1,0.1,8,2002,0.2,bad\n"),
    "a column of numbers and words": one("model,dataset,NDCG@10,Grade\nEASE,d1,0.3,1\nPop,d1,0.1,good\n"),
    "an average column": one("model,dataset,NDCG@10,Avg.\nEASE,d1,0.3,0.3\nPop,d1,0.1,0.1\n"),
    "a gain column": one("model,dataset,NDCG@10,Improv. (%)\nEASE,d1,0.3,200\nPop,d1,0.1,0\n"),
    "a gain row": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.2\nImprovement,200%,150%\n"),
    "an average row": one("model,NDCG@10\nEASE,0.3\nPop,0.1\nMean,0.2\n"),
    "an algorithm called Mean": one("model,NDCG@10\nEASE,0.3\nPop,0.1\nMean,0.25\n"),
    "an algorithm near the mean": one("model,NDCG@10\nEASE,0.3\nPop,0.1\nMean,0.21\n"),
    "a rank column": one("model,d1 NDCG@10,d2 NDCG@10,Average rank\nEASE,0.3,0.4,1\nPop,0.1,0.2,2\n"),
    "an average row of ranks": one(LONG + FOUR + "Avg. rank,d1,ndcg@10,1.5\n"),
    "an average as values": one("model,metric,average\nEASE,NDCG@10,0.3\nPop,NDCG@10,0.1\n"),
    "cut-offs": one("Model,Dataset,K,NDCG,HR@5,Time\nEASE,d1,10,0.3,0.5,1\nEASE,d1,20,0.35,0.5,2\nPop,d1,10,0.1,0.2,1\n"
                    "Pop,d1,20,0.15,0.2,2\n"),
    "cut-offs that are none": one("Model,Dataset,K,NDCG\nEASE,d1,0,0.3\nPop,d1,10,0.1\n"),
    "dictionaries of seeds": one("model,dataset,run,NDCG@10\nEASE,d1,1,0.3\nEASE,d1,2,0.5\nPop,d1,1,0.1\nPop,d1,2,0.2\n"),
    "a remark below": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.2\n\nBold is the best value of its column here\n"
                          "† significant\n"),
    "a short last row": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.2\nALS,,\n"),
    "names once": one("Dataset,Model,NDCG@10\nd1,EASE,0.3\n,Pop,0.1\nd2,EASE,0.4\n,Pop,0.2\n"),
    "a first name is missing": one("Dataset,Model,NDCG@10\n,EASE,0.3\nd1,Pop,0.1\n"),
    "deviations alone": one("model,NDCG@10 std\nEASE,0.3\nPop,0.1\n"),
    "statistics as levels": one(",NDCG@10,NDCG@10,NDCG@10\nmodel,mean,std,count\nEASE,0.3,0.02,5\nPop,0.1,0.01,5\n"),
    # Wide tables and their orientation
    "wide": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True, metric="ndcg@10"),
    "wide without its metric": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True),
    "wide with an own metric": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True, metric="Happiness"),
    "wide with a cut-off in a name": one("model,d@10,std,d2\nEASE,0.3,0.01,0.4\nPop,0.1,0.02,0.2\n", wide=True, metric="ndcg@10"),
    "wide with a cut-off in each name": one("model,d@1,d@2\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True, metric="ndcg@10"),
    "transposed": one("dataset,EASE,Pop\nd1,0.3,0.1\nd2,0.4,0.2\n", transpose=True, metric="ndcg@10"),
    "wide, no option": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n"),
    "wide, the metric given": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", metric="ndcg@10"),
    "wide, an unknown metric given": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", metric="Happiness"),
    "the metric in the name": one("model,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", "results NDCG@10.csv"),
    "the metric in the corner": one("HR@10,d1,d2\nEASE,0.3,0.4\nItemKNN,0.1,0.2\n"),
    "known rows": one("name,x1,x2\nEASE,0.3,0.4\nItemKNN,0.1,0.2\n", metric="ndcg@10"),
    "known columns": one(",EASE,ItemKNN\nx1,0.3,0.4\nx2,0.1,0.2\n", metric="ndcg@10"),
    "known datasets across": one("name,MovieLens-1M,Gowalla\nfoo,0.3,0.4\nbar,0.1,0.2\n", metric="ndcg@10"),
    "nothing is known": one(",x1,x2\ny1,0.3,0.4\ny2,0.1,0.2\n", metric="ndcg@10"),
    "header and names disagree": one("dataset,x1,x2\nEASE,0.3,0.4\nItemKNN,0.1,0.2\n", metric="ndcg@10"),
    "two columns of names": one("name,kind,d1 NDCG@10,d2 NDCG@10\nEASE,linear,0.3,0.4\nPop,simple,0.1,0.2\n"),
    "two columns of names, one bare": one(",kind,d1 NDCG@10,d2 NDCG@10\nEASE,linear,0.3,0.4\nItemKNN,simple,0.1,0.2\n"),
    "two columns of names, metrics alone": one("name,kind,NDCG@10\nfoo,linear,0.3\nbar,simple,0.1\n"),
    "two columns, known names": one("name,place,NDCG@10\nEASE,MovieLens-1M,0.3\nItemKNN,Gowalla,0.1\n"),
    "metrics alone, known rows": one("name,NDCG@10\nEASE,0.3\nItemKNN,0.1\n"),
    "metrics alone, unknown rows": one("name,NDCG@10\nfoo,0.3\nbar,0.1\n"),
    "metrics alone, known datasets": one("name,NDCG@10\nMovieLens-1M,0.3\nGowalla,0.1\n"),
    "metrics alone, told": one("name,NDCG@10\nfoo,0.3\nbar,0.1\n", wide=True),
    "metrics alone, told datasets": one("name,NDCG@10\nfoo,0.3\nbar,0.1\n", transpose=True),
    "datasets alone": one("dataset,NDCG@10\nx1,0.3\nx2,0.1\n"),
    "a dataset and a name": one("dataset,who,NDCG@10\nx1,foo,0.3\nx1,bar,0.1\n"),
    "rows without names": one("EASE NDCG@10,Pop NDCG@10\n0.3,0.1\n0.4,0.2\n"),
    "compound": one("Model,ml-1m_ndcg@10,ml-1m_hr@10,yelp_ndcg@10\nEASE,0.3,0.5,0.4\nPop,0.1,0.2,0.2\n"),
    "compound of other scales": one("Model,d1 N@10,d2 N@10\nEASE,0.3,40\nPop,0.1,20\n"),
    "compound without cut-offs": one("Model,d1 - AUC,d2 - AUC\nEASE,0.3,0.4\nPop,0.1,0.2\n"),
    "metrics in a column": one("Model,Metric,d1,d2\nEASE,NDCG@10,0.3,0.4\nEASE,HR@10,0.5,0.6\nPop,NDCG@10,0.1,0.2\n"
                               "Pop,HR@10,0.2,0.3\n"),
    "metrics in a bare column": one("Model,,d1,d2\nEASE,NDCG@10,0.3,0.4\nPop,NDCG@10,0.1,0.2\n"),
    "datasets and metrics in columns": one("Dataset,Metric,EASE,Pop\nd1,NDCG@10,0.3,0.1\nd2,NDCG@10,0.4,0.2\n"),
    "dataset over metric": one(",d1,,d2,\n,NDCG@10,HR@10,NDCG@10,HR@10\nEASE,0.3,0.5,0.4,0.6\nItemKNN,0.1,0.2,0.2,0.3\n"),
    "model over metric": one("dataset,EASE,EASE,ItemKNN,ItemKNN\n,NDCG@10,HR@10,NDCG@10,HR@10\nx1,0.3,0.5,0.4,0.6\n"
                             "x2,0.1,0.2,0.2,0.3\n"),
    "a counted index": one("dataset,,d1,d2\nmetric,model,NDCG@10,NDCG@10\n0,EASE,0.3,0.4\n1,Pop,0.1,0.2\n"),
    "an index below": one("dataset,d1,d2\nmetric,NDCG@10,NDCG@10\nmodel,,\nEASE,0.3,0.4\nPop,0.1,0.2\n"),
    "interactions": one("userId,movieId,rating\n1,2,3.5\n1,3,4\n"),
    "tuples in rows": one(",NDCG@10\n\"('EASE', 'd1')\",0.3\n\"('ItemKNN', 'd1')\",0.1\n", wide=True),
    "counted rows with a named index": one("dataset,d1,d2\nmetric,ndcg@10,ndcg@10\nmodel,,\n0,0.3,0.4\n1,0.1,0.2\n"),
    "tuples with names": one("\"('model', 'dataset')\",NDCG@10\n\"('EASE', 'd1')\",0.3\n\"('Pop', 'd1')\",0.1\n"),
    "names that look alike": one(LONG + "EASE,d1,ndcg@10,0.3\nEase,d1,ndcg@10,0.2\nPop,D 1,ndcg@10,0.1\n"),
    "too wide": one("model," + ",".join(f"c{i}" for i in range(5_001)) + "\nEASE" + ",1" * 5_001 + "\n"),
    # Drawn tables
    "Markdown": one("Results:\n\n| Model | NDCG@10 | HR@10 |\n|:--|--:|--:|\n| **EASE** [1] | 0.3 | 61\\|2 |\n"
                    "| [Pop](http://x) | 0.1 | - |\n\nThe end.\n", "films.md"),
    "two tables in Markdown": one("| Model | NDCG@10 |\n|--|--|\n| EASE | 0.3 |\n| Pop | 0.1 |\n\n"
                                  "| a | b |\n|--|--|\n| x | 1 |\n| y | 2 |\n", "films.md"),
    "a box": one("┌───────┬─────────┐\n│ model │ NDCG@10 │\n├───────┼─────────┤\n│ EASE  │ 0.3     │\n│ Pop   │ 0.1     │\n"
                 "└───────┴─────────┘\n", "films.txt"),
    "dashes": one("model      NDCG@10    HR@10\n-------  ---------  -------\nEASE           0.3      0.5\n"
                  "Pop            0.1      0.2\n", "films.txt"),
    "spaces": one("            NDCG@10  HR@10\nEASE            0.3    0.5\nItemKNN         0.1    0.2\n", "films.txt"),
    "spaces with the index named": one("         NDCG@10  HR@10\nmodel                 \nEASE         0.3    0.5\n"
                                       "Pop          0.1    0.2\n", "films.txt"),
    "spaces with a title": one("Results of today\nmodel  NDCG@10  HR@10\nEASE   0.3      0.5\nPop    0.1      0.2\n"
                               "MF     0.2      0.3\nFM     0.2      0.4\n", "films.txt"),
    "HTML": one("<p>x</p><table><tr><th rowspan='2'>Model</th><th colspan='2'>NDCG@10</th></tr><tr><th>d1</th>"
                "<th>d2</th></tr><tr><td>EASE</td><td>0.3<sup>1</sup></td><td>0.4<br></td></tr>"
                "<tr><td>Pop</td><td>0.1</td><td>0.2</td></tr></table>", "films.html"),
    "HTML without ends": one("<table><tr><th>Model<th>NDCG@10<tr><td>Item<br>KNN<td>0.3<tr><td>Pop<td>0.1</table>"
                             "<table><tr><td>x</td></tr></table>", "films.html"),
    "HTML that spreads": one("<table><tr><td colspan=1000 rowspan=1000>x</td></tr>" + "<tr><td>y</td></tr>" * 40
                             + "</table>", "films.html"),
    "LaTeX": tex("\\toprule \\multirow{2}{*}{Model} & \\multicolumn{2}{c}{NDCG@10} \\\\ \\cmidrule(lr){2-3} & d1 & d2 "
                 "\\\\ \\midrule EASE~\\cite{x} & \\textbf{0.3} & 0.4$\\pm$0.02 \\\\[2pt] % 9 & 9\n"
                 "Pop & 0.1 & \\underline{0.2} \\\\ \\bottomrule"),
    "LaTeX with a caption": tex("Model & d1 & d2 \\\\ EASE & 0.3 & 0.4 \\\\ Pop & 0.1 & 0.2 \\\\",
                                "\\caption[short]{Recall@20 of\n all}"),
    "LaTeX with a caption below": one(TEX.format("Model & d1 & d2 \\\\ EASE & 0.3 & 0.4 \\\\ Pop & 0.1 & 0.2 \\\\") + "\\caption{Recall@20}", "films.tex"),
    "LaTeX with a caption far below": one(TEX.format("Model & d1 & d2 \\\\ EASE & 0.3 & 0.4 \\\\ Pop & 0.1 & 0.2 \\\\") + " " * 2000 + "\\caption{Recall@20}",
                                          "films.tex"),
    "LaTeX with panels": tex("Model & NDCG@10 & HR@10 \\\\ \\multicolumn{3}{c}{d1} \\\\ EASE & 0.3 & 0.5 \\\\ "
                             "Pop & 0.1 & 0.2 \\\\ \\multicolumn{3}{c}{d2} \\\\ EASE & 0.4 & 0.6 \\\\ Pop & 0.2 & 0.3 \\\\"),
    "LaTeX with groups": tex("Model & NDCG@10 & HR@10 \\\\ \\multicolumn{3}{c}{linear} \\\\ EASE & 0.3 & 0.5 \\\\ "
                             "\\multicolumn{3}{c}{simple} \\\\ Pop & 0.2 & 0.3 \\\\"),
    "LaTeX with datasets once": tex("Dataset & Model & NDCG@10 \\\\ \\multirow{2}{*}{d1} & EASE & 0.3 \\\\ & Pop & 0.1 "
                                    "\\\\ \\multirow{2}{*}{d2} & EASE & 0.4 \\\\ & Pop & 0.2 \\\\"),
    "LaTeX with marks": tex("Model & NDCG@10 & HR@10 \\\\ EASE$^\\dagger$ & 0.3 & 0.5 \\\\ "
                            "$\\beta$-VAE [12] & 0.1 & 0.2 \\\\ EASE & 0.2 & 0.1 \\\\"),
    "LaTeX that spreads": tex("\\multicolumn{1000}{c}{x} & " * 30 + "\\\\ EASE & 1 \\\\"),
    "a comment and a title": one("# of today\nTable 1\nmodel;dataset;NDCG@10\nEASE;d1;0.3\nPop;d1;0.1\n"),
    # JSON and printed dictionaries
    "records": document([{"model": "EASE", "dataset": "d1", "metrics": {"ndcg@10": 0.3}, "tags": [1]},
                         {"model": "Pop", "dataset": "d1", "metrics": {"ndcg@10": None}}]),
    "records by phase": document([{"model": "EASE", "test": {"ndcg@10": 0.3}, "valid": {"ndcg@10": 0.9}},
                                  {"model": "Pop", "test": {"ndcg@10": 0.1}, "valid": {"ndcg@10": 0.8}}]),
    "wrapped records": document({"dataset": "d1", "results": [{"model": "EASE", "ndcg@10": 0.3},
                                                              {"model": "Pop", "ndcg@10": 0.1}]}),
    "split of pandas": document({"columns": ["model", "ndcg@10"], "index": [0, 1], "data": [["EASE", 0.3], ["Pop", 0.1]]}),
    "columns": document({"model": ["EASE", "Pop"], "ndcg@10": [0.3, 0.1]}),
    "columns of other lengths": document({"model": ["EASE", "Pop"], "ndcg@10": [0.3]}),
    "index of pandas": document({"0": {"model": "EASE", "ndcg@10": 0.3}, "1": {"model": "Pop", "ndcg@10": 0.1}}),
    "columns of pandas": document({"model": {"0": "EASE", "1": "Pop"}, "ndcg@10": {"0": 0.3, "1": 0.1}}),
    "by algorithm": document({"EASE": {"ndcg@10": 0.3, "hr@10": 0.5}, "Pop": {"ndcg@10": 0.1, "hr@10": 0.2}}),
    "by metric": document({"ndcg@10": {"EASE": 0.3, "Pop": 0.1}, "hr@10": {"EASE": 0.5, "Pop": 0.2}}),
    "by dataset and algorithm": document({d: {a: {"ndcg@10": v} for a, v in (("EASE", 0.3), ("ItemKNN", 0.1))}
                                          for d in ("x1", "x2")}),
    "by unknown names": document({d: {a: {"ndcg@10": v} for a, v in (("foo", 0.3), ("bar", 0.1))} for d in ("x1", "x2")}),
    "by unknown names, told": document({d: {a: {"ndcg@10": v} for a, v in (("foo", 0.3), ("bar", 0.1))}
                                        for d in ("x1", "x2")}, wide=True),
    "means and deviations": document({"EASE": {"ndcg@10": {"mean": 0.3, "std": 0.02, "count": 5}},
                                      "Pop": {"ndcg@10": {"mean": 0.1, "std": 0.01, "count": 5}}}),
    "means and deviations by dataset": document({d: {a: {"ndcg@10": {"mean": m, "std": 0.02}} for a, m in (("EASE", 0.3), ("ItemKNN", 0.1))}
                                                 for d in ("x1", "x2")}),
    "metrics alone in JSON": document({"ndcg@10": 0.3, "hr@10": 0.5}, "EASE.json"),
    "names without metrics": document({"a": {"b": 1}, "c": {"b": 2}}),
    "JSON lines": one('{"model": "EASE", "ndcg@10": 0.3}\n{"model": "Pop", "ndcg@10": 0.1}\n', "films.jsonl"),
    "a key twice": one('{"ndcg@10": 0.3, "ndcg@10": 0.4}', "EASE.json"),
    "printed below zero": one("{'EASE': {'map': tensor(-0.5, device='cuda:0'), 'rmse': 1}, 'Pop': {'map': -.25, 'rmse': array(2)}}", "films.txt"),
    "printed with a call": one("{'EASE': {'map': open('x')}}", "films.txt"),
    "judgements that are words": one("q1 0 a 1\nq1 0 b yes\n", "x.qrels"),
    "printed": one("OrderedDict([('EASE', {'ndcg@10': np.float64(0.3), 'hr@10': nan}), ('Pop', {'ndcg@10': 0.1, "
                   "'hr@10': -inf})])", "films.txt"),
    # Several places
    "two places": several({"a.csv": LONG + "A,x,ndcg@10,0.1\nB,x,ndcg@10,0.2\n",
                           "b.csv": LONG + "A,y,ndcg@10,0.3\nC,y,ndcg@10,0.4\n"}),
    "one value twice": several({"a.csv": LONG + "A,x,ndcg@10,0.1234\nB,x,ndcg@10,0.2\n",
                                "b.csv": LONG + "A,x,ndcg@10,0.12342\nB,x,ndcg@10,0.2\n"}),
    "nearly one value": several({"a.csv": LONG + "A,x,ndcg@10,0.1234\n", "b.csv": LONG + "A,x,ndcg@10,0.12347\n"}),
    "few digits": several({"a.csv": LONG + "A,x,ndcg@10,0.12\n", "b.csv": LONG + "A,x,ndcg@10,0.123\n"}),
    "two conflicts": several({"a.csv": LONG + "A,x,ndcg@10,0.1\nB,x,ndcg@10,0.2\n",
                              "b.csv": LONG + "A,x,ndcg@10,0.3\nB,x,ndcg@10,0.4\n"}),
    "the last of two conflicts": several({"a.csv": LONG + "A,x,ndcg@10,0.1\nB,x,ndcg@10,0.2\n",
                                          "b.csv": LONG + "A,x,ndcg@10,0.3\nB,x,ndcg@10,0.4\n"}, prefer="last"),
    "a place by its folder": several({"mine/a.csv": LONG + "A,x,ndcg@10,0.1\n", "b.csv": LONG + "A,x,ndcg@10,0.3\n",
                                      "c.csv": LONG + "B,x,ndcg@10,0.3\n"}, prefer="mine"),
    "a place that is none": several({"a.csv": LONG + "A,x,ndcg@10,0.1\n", "b.csv": LONG + "A,x,ndcg@10,0.3\n"},
                                    prefer="c.csv"),
    "deviations of a double": several({"a.csv": "model,dataset,NDCG@10\nA,x,0.123\nB,x,0.2\n",
                                       "b.csv": "model,dataset,NDCG@10\nA,x,0.123±0.02\nB,x,0.2±0.03\n"}),
    "seeds of two places": several({"a.csv": "model,dataset,seed,NDCG@10\nA,x,1,0.1\nB,x,1,0.2\n",
                                    "b.csv": "model,dataset,seed,NDCG@10\nA,x,2,0.3\nB,x,2,0.4\n"}),
    "a seed and none": several({"a.csv": "model,dataset,seed,NDCG@10\nA,x,1,0.1\n", "b.csv": LONG + "B,x,ndcg@10,0.3\n"}),
    "scales": several({"a.csv": LONG + "A,x,ndcg@10,0.1\nA,x,rmse,3\n", "b.csv": LONG + "A,y,ndcg@10,12\nA,y,rmse,4\n"}),
    "a share of 1": several({"a.csv": LONG + "A,x,ndcg@10,1.0\nA,x,auc,1.2\n", "b.csv": LONG + "A,y,ndcg@10,0.5\nA,y,auc,0.9\n"}),
    "a long protocol": one("algorithm,dataset,metric,value,protocol\nA,x,ndcg@10,0.1," + "p" * 110 + "\nB,x,ndcg@10,0.2," + "q" * 111 + "\n"),
    "protocols": several({"a.csv": "algorithm,dataset,metric,value,protocol,framework,convention\n"
                                   "A,x,ndcg@10,0.1,p1,F,by_k: one way\nB,x,ndcg@10,0.2,p2,G,by_min: other way\n"
                                   "A,y,ndcg@10,0.1,p1,F,by_k: one way\nB,y,ndcg@10,0.1,,G,by_k: as before\n"}),
    "conventions of datasets": several({"a.csv": "algorithm,dataset,metric,value,framework,convention\n"
                                                 "A,x,ndcg@10,0.1,F,by_k: one way\nA,y,ndcg@10,0.2,,by_min: another\n"}),
    "one note of two": several({"x.csv": "model,NDCG@10\nA,10%\nB,20%\n", "y.csv": "model,NDCG@10\nA,10%\nB,20%\n"}),
    "five places": several({f"{name}.csv": "model,NDCG@10\nA,0.1\nB,0.2\n" for name in "vwxyz"}),
    # Folders
    "a folder": several({"ml-1m/seed_1/results.csv": "model,NDCG@10\nA,0.1\nB,0.2\n",
                         "ml-1m/seed_2/results.csv": "model,NDCG@10\nA,0.3\nB,0.4\n",
                         "ml-1m/notes.txt": "nothing\n", "ml-1m/empty.csv": "", ".hidden/a.csv": "model,NDCG@10\nA,9\n",
                         "saved/a.csv": "model,NDCG@10\nA,9\n", "ml-1m/code.py": "x = 1\n"}, folder=True),
    "runs in folders": several({f"d1/fold_{fold}/run-{run}/results.csv": f"model,NDCG@10\nA,0.{run}{fold}\nB,0.2\n"
                                for fold, run in ((1, 3), (2, 4))}, folder=True),
    "folds in names": several({"yelp_fold0.csv": "model,NDCG@10\nA,0.1\nB,0.2\n",
                               "yelp_fold1.csv": "model,NDCG@10\nA,0.3\nB,0.4\n"}, folder=True),
    "a search beside results": several({"d1.csv": "model,NDCG@10\nA,0.1\nB,0.2\n",
                                        "d2.csv": "model,NDCG@10\nA,0.1\nA,0.2\nB,0.1\n"}, folder=True),
    "five files that are not results": several({"a.csv": "model,NDCG@10\nA,0.1\nB,0.2\n", **{f"{name}.txt": "nothing\n" for name in "vwxyz"}},
                                              folder=True),
    "an empty folder": several({"notes.md": "nothing\n"}, folder=True),
    "a run and its judgements": several({"films/run_bm25.trec": "q1 Q0 a 1 9 bm25\nq1 Q0 b 2 8 bm25\nq1 Q0 c 3 7 bm25\n"
                                                                "q3 Q0 a 1 9 bm25\n",
                                         "films/qrels.trec": "q1 0 a 0\nq1 0 b 2\nq1 0 c 1\nq1 0 d 1\nq2 0 a 1\n"},
                                        folder=True),
    "a run with ties": several({"films/run_bm25.trec": "q1 Q0 a 1 1.0 bm25\nq1 Q0 b 2 1.00000001 bm25\nq1 Q0 c 3 1.0 bm25\nq1 Q0 d 4 1.1 bm25\n",
                                "films/qrels.trec": "q1 0 a 1\nq1 0 c 1\n"}, folder=True),
    "a run without judgements": several({"films/run_bm25.trec": "q1 Q0 a 1 9 bm25\n", "books/qrels.trec": "q1 0 a 1\n"},
                                        folder=True),
    "a run and two judgements": several({"run_bm25.trec": "q1 Q0 a 1 9 bm25\n", "one.qrels": "q1 0 a 1\n",
                                         "two.qrels": "q1 0 a 1\n"}, folder=True),
    "a run and its own judgements": several({"run_one.trec": "q1 Q0 a 1 9 bm25\n", "one.qrels": "q1 0 a 1\n",
                                             "two.qrels": "q1 0 b 1\n"}, folder=True),
    "a run of other queries": several({"run_bm25.trec": "q9 Q0 a 1 9 bm25\n", "one.qrels": "q1 0 a 1\n"}, folder=True),
    "a document twice": several({"run_bm25.trec": "q1 Q0 a 1 9 bm25\nq1 Q0 a 2 8 bm25\n", "one.qrels": "q1 0 a 1\n"},
                                folder=True),
}  # fmt: skip

SMALL_LISTS: dict[str, tuple[Files, str]] = {}

LOG = "General Hyper Parameters:\nseed = 7\ndata_path = data/toya/\n[Evaluation]:\neval_args: x\n"
HELM_STATS = [
    {"name": {"name": "exact_match", "split": split, **more}, "mean": mean}
    for split, more, mean in (("valid", {}, 0.9), ("test", {}, 0.5), ("test", {"perturbation": {"name": "x"}}, 0.1),
                              ("test", {"sub_split": "y"}, 0.2))
] + [{"name": {"name": "num_prompt_tokens", "split": "test"}, "mean": 7}, {"name": {"name": "f1", "split": "test"}}]  # fmt: skip
INSPECT = {
    "status": "success", "eval": {"task": "sum", "model": "m/a", "packages": {"inspect_ai": "0.3"}},
    "samples": [{"id": 1, "scores": {"match": {"value": "C"}, "length": {"value": 3}}},
                {"id": 2, "scores": {"match": {"value": "P"}, "length": 5}},
                {"id": 2, "scores": {"match": {"value": "I"}, "length": {"value": 7}}},
                {"id": 3, "scores": {"match": {"value": True}, "length": {"value": {"words": 2, "lines": 1}}}}],
}  # fmt: skip
TOTALS = {"scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}, "stderr": {"value": 0.1}}},
                     {"name": "other", "metrics": {"accuracy": {"value": 0.25}}}]}  # fmt: skip


def optuna(*states: str) -> bytes:
    """A storage of two studies, with a trial of the first for each state: the n-th has the values n and 10 - n."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "create table studies(study_id, study_name); create table study_directions(study_id, direction, objective);"
        "create table trials(trial_id, study_id, state); create table trial_values(trial_id, objective, value);"
        "create table study_user_attributes(study_id, key, value_json); create table version_info(library_version);"
        "create table study_system_attributes(study_id, key, value_json); insert into version_info values ('4.1');"
        "insert into studies values (1, 'EASE_ml-1m'), (2, 'other on yelp');"
        "insert into study_directions values (1, 'MINIMIZE', 1), (1, 'MAXIMIZE', 0), (2, 'MINIMIZE', 0);"
        "insert into study_user_attributes values (2, 'Model', '\"SLIM\"'), (9, 'x', '1');"
        "insert into study_system_attributes values (1, 'study:metric_names', '[\"ndcg@10\", \"rmse\"]');"
        "insert into trials values (100, 2, 'COMPLETE'); insert into trial_values values (100, 0, 0.5), (100, 1, 3);"
    )
    for n, state in enumerate(states, 1):
        connection.execute("insert into trials values (?, 1, ?)", (n, state))
        connection.executemany("insert into trial_values values (?, ?, ?)", [(n, 1, 10 - n), (n, 0, n)])
    return connection.serialize()


def unversioned(storage: bytes) -> bytes:
    """A storage that does not say which version wrote it."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(storage)
    connection.execute("delete from version_info")
    connection.commit()
    return connection.serialize()


def evaluated(**members: Any) -> bytes:
    """A log of Inspect that is packed: its members by name, with `__` for a slash."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name.replace("__", "/") + ".json"), json.dumps(content))
    return packed.getvalue()


def other_database() -> bytes:
    """A database of something else."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table studies(study_id, study_name)")
    return connection.serialize()


def lines(*records: Any) -> str:
    """Records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


SMALL_TABLES |= {
    # Frameworks
    "format that is unknown": one(LONG + FOUR, format="recbol"),
    "format of a table": one("model,i_split,NDCG@10\nA,0,0.1\nB,0,0.2\n", format="CSV"),
    "format that does not fit": one(LONG + FOUR, format="recbole"),
    "format that breaks": document({"a": 1}, format="ranx"),
    "amlb": one("id,task,framework,constraint,fold,type,result,metric,auc,acc,duration\n"
                "i,adult,RF,1h,0,binary,0.9,auc,0.9,0.8,12\ni,adult,RF,1h,1,binary,,auc,,,3\n"),
    "TabArena": one("method,dataset,fold,metric_error,time_train_s\nRF,adult,0,0.1,3\nGBM,adult,0,0.2,4\n"),
    "AutoGluon of validation": one("model,score_val,eval_metric,pred_time_val,fit_time,stack_level\n"
                                   "GBM,0.9,accuracy,1,5,1\nRF,0.8,accuracy,2,6,1\n", "adult_leaderboard.csv"),
    "AutoGluon of errors": one("model,score_test,score_val,eval_metric,pred_time_test,fit_time,stack_level\n"
                               "GBM,-0.4,-0.3,rmse,1,5,1\n", "adult_leaderboard.csv"),
    "BARS with a model twice": one("Year,Publication,Model,Paper URL,Recall@20,NDCG@20\n2020,X,EASE ,u,0.1*,0.2\n"
                                   "2021,Y,EASE ,u,0.3,0.4\n2021,Y,Pop,u,0.1,0.1\n", "matching_yelp.csv"),
    "battles": one("model_a,model_b,winner\nA,B,model_a\nB,A,right\nA,C,tie (bothbad)\nC,B,C\nB,C,2\n"),
    "battles of winners": one("winner,loser\nA,B\nA,C\n"),
    "a battle without a winner": one("model_a,model_b,winner\nA,B,nobody\n"),
    "a battle with oneself": one("model_a,model_b,winner\nA,A,model_a\n"),
    "a battle of one": one("model_a,model_b,winner\nA,,model_a\n"),
    "battles in lines": one(lines({"model_a": "A", "model_b": "B", "winner": "b"}), "films.jsonl"),
    "Cornac by user": document({"MF": {"NDCG@10": {"u1": 0.1, "u2": 0.3}, "MAP": {"u1": 1, "u2": 0}}}),
    "Cornac without its table": one("TEST:\nnothing - + -\n", "x.log"),
    "Elliot without its name": one("model\tnDCG\tGini\nItemKNN_nn=20_sim=cosine\t0.3\t0.2\n"
                                   "ItemKNN_nn=40_sim=cosine\t0.4\t0.1\n", "films.tsv"),
    "Elliot": several({"toya/performance/rec_cutoff_5_relthreshold_2.5_x.tsv": "model\tnDCG\tGini\tItemCoverage\n"
                       "ItemKNN_nn=20_sim=cosine\t0.3\t0.2\t7\nPop\t0.1\t0.9\t5\n"}),
    "Elliot in triplets": several({"toya/performance/triplets_rec_cutoff_5_relthreshold_2.5_x.tsv":
                                   "model\tmetric\tvalue\nPop\tMAP\t0.3\nPop\tAUC\t0.7\n"}),
    "Every Eval Ever": document({
        "schema_version": "1", "model_info": {"name": "m"}, "eval_library": {"name": "lib", "version": "2"},
        "evaluation_results": [
            {"evaluation_name": "t1", "metric_config": {"metric_name": "Accuracy", "lower_is_better": False},
             "score_details": {"score": 0.5, "uncertainty": {"standard_error": {"value": 0.02}}}},
            {"evaluation_name": "t2", "metric_config": {"evaluation_description": "a text", "lower_is_better": True},
             "score_details": {"score": 2, "confidence_interval": {"lower": 1, "upper": 3, "confidence_level": 0.9}}},
            {"metric_config": {"evaluation_description": "accuracy"},
             "score_details": {"score": 0.7, "confidence_interval": {"lower": 0.6, "upper": 0.8}}},
            {"evaluation_name": "t4", "score_details": {"score": "none"}},
        ]}),
    "samples of Every Eval Ever": one(lines(
        *({"schema_version": "instance_level_eval_0.1", "evaluation_name": "t", "model_id": "m", "sample_id": f"s{i}",
           "evaluation": {"is_correct": i == 1, "score": i / 4}} for i in range(3))), "x.jsonl"),
    "fev": one("model_name,dataset_path,dataset_config,horizon,test_error,MASE,fev_version\nA,x/y.csv,,4,0.5,0.6,0.2\n"
               "A,x/y.csv,,8,0.7,0.8,0.2\nA,x/z.csv,hourly,4,,1,0.2\n"),
    "HELM": several({"mmlu:subject=law,method=m,model=openai_gpt2/stats.json": json.dumps(HELM_STATS)}),
    "HELM of validation": several({"hella:model_deployment=org_m/stats.json": json.dumps(HELM_STATS[:1])}),
    "HELM without scores": document(HELM_STATS[4:5], "stats.json"),
    "HELM by its specification": several({"x/stats.json": json.dumps(HELM_STATS[:2]),
                                          "x/run_spec.json": json.dumps({"name": "boolq:a=1,model=org_n", "adapter_spec": 1,
                                                                         "scenario_spec": 1})}, folder=True),
    "HELM by instance": document([{"instance_id": "id1", "stats": HELM_STATS[:2]}, {"instance_id": "id2",
                                   "perturbation": {"name": "x"}, "stats": HELM_STATS[:2]}], "per_instance_stats.json"),
    "HELM in tables": document({"title": "Core", "header": [{"value": "Model"}, {"value": "MMLU - EM"},
                                {"value": "X", "metadata": {"metric": "Loss", "run_group": "R"}, "lower_is_better": True},
                                {"value": "Mean"}], "rows": [[{"value": "m1"}, {"value": 0.5}, {"value": 2}, {"value": 1}],
                                [{"value": "m2"}, {"value": None}, 3, 4]]}),
    "Inspect": document(INSPECT),
    "Inspect that was stopped": document({**INSPECT, "status": "error", "samples": INSPECT["samples"][:1]}),
    "Inspect with totals": document({**INSPECT, "samples": [], "results": TOTALS}),
    "Inspect with one total": document({**INSPECT, "samples": None, "results": {"scores": TOTALS["scores"][:1]}}),
    "Inspect without scores": document({**INSPECT, "samples": []}),
    "ir_measures of queries": one("q1\tnDCG@10\t0.5\nq2\tnDCG@10\t0.1\nq1\tnDCG(dcg='exp-log2')@10\t0.7\nall\tAP\t0.3\n",
                                  "ir_measures_bm25.txt"),
    "ir_measures in lines": one(lines({"query_id": "q1", "measure": "AP", "value": 0.5},
                                      {"query_id": "q2", "measure": "AP", "value": 0.1}), "bm25.jsonl"),
    "LensKit": one("model,part,user_id,NDCG,Hit\nA,0,1,0.5,1\nA,0,2,0.1,0\nA,1,1,0.2,1\n"),
    "LensKit's summary": one("model,,mean,median,std\nA,NDCG@5,0.5,0.4,0.1\nB,NDCG@5,0.3,0.2,0.1\n"),
    "lm-eval": document({
        "results": {"g": {"acc,none": 0.5}, "t1": {"acc,none": 0.5, "acc_stderr,none": 0.1, "alias": "t1", "ppl,strict": 3},
                    "t2": {"exact_match": 0.25, "exact_match_stderr": 0.2, "sample_len": 9}},
        "groups": {"g": {}}, "n-shot": {"t1": 5}, "versions": {}, "higher_is_better": {"t1": {"ppl": False}},
        "config": {"model": "hf", "model_args": "pretrained=org/m,dtype=x"}, "git_hash": "abc"}),
    "lm-eval of a model without arguments": document({"results": {"t": {"acc,none": 0.5}}, "versions": {}, "config": {"model": "hf"}}),
    "lm-eval without a model": document({"results": {"t": {"acc,none": True, "bleu,none": 0.5}}, "configs": {}}),
    "lm-eval of a group alone": document({"results": {"all": {"acc": 0.5}}, "versions": {}, "model_name": "m"}),
    "samples of lm-eval": several({"org__m/samples_t_2026-01-02T03-04-05.6.jsonl": lines(
        {"doc_id": 0, "resps": [], "filter": "none", "metrics": ["acc", "bleu"], "acc": 1.0, "bleu": 0.25},
        {"doc_id": 1, "resps": [], "filter": "strict", "metrics": ["acc"], "acc": 0.0})}),
    "MLflow": one("run_id,status,params.model,params.dataset,tags.seed,metrics.ndcg_at_10,metrics.val_ndcg_at_10,metrics.foo\n"
                  "1,FINISHED,A,x,1,0.5,0.6,7\n2,FAILED,A,x,2,0.4,0.6,7\n3,FINISHED,B,x,1,,0.6,8\n"),
    "MLflow with a gap": one("run_id,status,params.model,params.dataset,metrics.ndcg_at_10\n1,FINISHED,A,x,0.5\n2,FINISHED,A,,0.25\n", dataset="z"),
    "MLflow on one dataset": one("run_id,status,params.model,params.dataset,metrics.ndcg_at_10\n1,FINISHED,A,x,0.5\n2,FINISHED,B,x,0.25\n", dataset="z"),
    "MLflow on two datasets": one("run_id,status,params.model,params.dataset,metrics.ndcg_at_10\n1,FINISHED,A,x,0.5\n2,FINISHED,B,y,0.25\n", dataset="z"),
    "MLflow by the name of a run": one("run_id,status,tags.mlflow.runName,metrics.ndcg@10\n1,FINISHED,A,0.5\n2,FINISHED,B,0.4\n"),
    "MLflow without models": one("run_id,status,metrics.ndcg@10\n1,FINISHED,0.5\n"),
    "MTEB": several({"r/org__m/abcdef1/T.json": json.dumps({"mteb_version": "1.12", "task_name": "T", "scores": {
        "validation": [{"hf_subset": "en", "main_score": 0.5, "ndcg_at_10": 0.4, "languages": ["x"], "nauc_x": 1},
                       {"hf_subset": "default", "main_score": 0.3, "flag": True}]}}),
        "r/org__m/abcdef2/T.json": json.dumps({"mteb_version": "1.12", "task_name": "T",
                                              "scores": {"test": [{"hf_subset": "en", "main_score": 0.9}]}})}),
    "MTEB of two splits": document({"mteb_version": "1.12", "task_name": "T", "scores": {
        "validation": [{"hf_subset": "en", "main_score": 0.5}], "test": [{"hf_subset": "en", "main_score": 0.25}]}}),
    "MTEB before": document({"mteb_version": "1.0", "mteb_dataset_name": "B", "test": {"main_score": 0.5, "evaluation_time": 3}}),
    "MTEB before, by language": document({"mteb_version": "1.0", "test": {"en": {"main_score": 0.5}, "de": {"main_score": 0.4},
                                                                        "evaluation_time": 3}}),
    "MTEB without scores": document({"mteb_version": "1.12", "task_name": "T", "scores": {"test": []}}),
    "OmniRec": document({"toya-0a1b2c": [{"algorithm": "A-ffff", "fold": 0, "name": "NDCG", "k": 10, "value": 0.5},
                                         {"algorithm": "B-eeee", "fold": 0, "name": "RMSE", "value": None}]}),
    "OmniRec with one name twice": document({"toya-0a1b": [{"algorithm": "A-ffff", "name": "NDCG", "k": 10, "value": 0.5},
                                                           {"algorithm": "A-eeee", "name": "NDCG", "k": 10, "value": 0.4}]}),
    "OpenML": one("@relation openml_task_59_predictions\n@attribute row_id numeric\n@attribute prediction {a,b}\n"
                  "@attribute correct {a,b}\n@data\n0,a,a\n1,b,a\n1,a,a\n", "predictions.arff"),
    "OpenML without the truth": one("@relation openml_task_59_predictions\n@attribute row_id numeric\n"
                                    "@attribute prediction {a,b}\n@data\n0,a\n", "predictions.arff"),
    "Optuna's trials": one("number,values_ndcg@10,values_rmse,datetime_start,user_attrs_model,user_attrs_lr,state\n"
                           "0,0.1,3,t,EASE,1,COMPLETE\n1,0.3,5,t,EASE,2,COMPLETE\n2,0.9,1,t,EASE,3,RUNNING\n", "x.csv"),
    "Optuna's journal": one(lines(
        {"op_code": 0, "study_name": "ALS@yelp", "directions": [1, 2]}, {"op_code": 2, "study_id": 0, "user_attr": {"x": 1}},
        {"op_code": 3, "study_id": 0, "system_attr": {"study:metric_names": ["rmse", "ndcg@10"]}},
        {"op_code": 4, "study_id": 0}, {"op_code": 6, "trial_id": 0, "state": 1, "values": [2, 0.5]},
        {"op_code": 4, "study_id": 0, "state": 1, "values": [3, 0.75]}, {"op_code": 4, "study_id": 0},
        {"op_code": 6, "trial_id": 2, "state": 3, "values": [1, 0.9]}), "journal.log"),
    "Optuna's storage": one(optuna("COMPLETE", "COMPLETE", "FAIL"), "studies.db"),
    "no storage of Optuna": one(other_database(), "studies.db", format="optuna"),
    "Optuna without an end": one(lines({"op_code": 0, "study_name": "A", "directions": [1]}), "journal.log"),
    "ranx's table": one(",model_names,ndcg@10,hits\n0,A,0.5,3\n1,B,0.25,2\n"),
    "ranx's lists": document({f"u{i}": {"a": 0.5, "b": 0.25} for i in range(5)}),
    "ranx's judgements": document({f"u{i}": {"a": 1, "b": 2} for i in range(5)}),
    "few users are not lists": document({f"u{i}": {"a": 0.5, "b": 0.25} for i in range(4)}),
    "RecBole's log": one(LOG + "INFO  BPR(\nINFO test result: OrderedDict([('ndcg@10', 0.1), ('shannonentropy@10', inf)])\n",
                         "a.log"),
    "RecBole's documents": document([{"config": {"model": "BPR", "dataset": "x", "seed": 3}, "test_result": {"ndcg@10": 0.1}},
                                     {"model": "Pop", "best_test_result": {"ndcg@10": 0.2, "note": "x"}}]),
    "RecBole by dataset": document({"x": {"BPR": {"test_result": {"ndcg@10": 0.1}}}, "y": {"BPR": {"test_result": {"ndcg@10": 0.2}}}}),
    "RecBole, printed with names": one("BPR on x: {'test_result': {'ndcg@10': 0.1}}\nmodel: EASE\ndataset: y\n"
                                       "test result: {'ndcg@10': 0.2}\n", "a.txt"),
    "RecBole over lines": one("model = BPR\nresults = {\n'test_result':\n{'ndcg@10': 0.1}}\n", "BPR-x.txt", format="recbole"),
    "RecPack": document({"NDCGK_10": {"A(x=1)": 0.1, "A(x=2)": 0.2}, "HitK_10": {"A(x=1)": 3, "A(x=2)": 4}}),
    "RecTools in shares": one("model,i_split,NDCG@10,CatalogCoverage@10\nA,0,0.5,0.25\nA,1,0.4,0.5\n"),
    "RecTools with deviations": one("model,i_split,recall,recall_std\nA,0,0.5,0.25\n"),
    "RecTools in counts": one("model,i_split,NDCG@10,CatalogCoverage@10\nA,0,0.5,25\nA,1,0.4,1\n"),
    "RePlay": one(",NDCG@10,NDCG-ConfidenceInterval@10,Precision-Median@10\nA,0.5,0.0392,0.1\nB,0.4,,0.2\n"),
    "responses": one("classifier,i1,i2,i3\nRF,1,0,1\nSVM,1,,0\n", "digits.csv"),
    "SWE-bench": document({"resolved_ids": ["a"], "unresolved_ids": ["b"], "submitted_ids": ["a", "b", "c"]}, "org__m.run1.json"),
    "SWE-bench without others": document({"resolved_ids": ["a"], "submitted_ids": ["a"]}, "org__m.run1.json"),
    "trec_eval": one("runid all bm25\nnum_q all 2\nmap q1 0.5\nmap q2 0.1\nmap all 0.3\niprec_at_recall_0.00 q1 0.4\n"
                     "ndcg_cut_5 q1 nan\nndcg_cut_5 q2 0.5\n", "trec_eval_q_x.txt"),
    "trec_eval without measures": one("runid all bm25\nnum_q all 2\n", "x.txt"),
    "pytrec_eval": document({"q1": {"map": 0.5, "P_5": 0.2}, "q2": {"map": 0.1, "P_5": 0.4}}, "pytrec_eval_bm25.json"),
    "WarpRec": several({"toya/evaluation/Overall_Results_x.tsv": "Model\tTop@k\tnDCG\tItemCoverage\nA\t5\t0.5\t9\nA\t10\t0.4\t12\n"}),
    "WarpRec by user": several({"toya/evaluation/A_k_5_per_user_x.tsv": "user_id\tnDCG\n1\t0.5\n2\t0.1\n"}),
}  # fmt: skip

SMALL_TABLES |= {
    # Nearly the files of a framework: one thing that it always writes is missing
    "nearly TabArena": one("dataset,metric_error\nadult,0.1\nbank,0.2\n"),
    "nearly TabArena, without a task": one("method,metric_error,fold\nRF,0.1,0\nGBM,0.2,0\n"),
    "nearly amlb": one("framework,task,result\nRF,adult,0.9\nGBM,adult,0.8\n"),
    "TabArena with seeds": one("model,task,seed,metric_error,auc\nRF,adult,1,0.1,0.9\nRF,adult,1,0.1,0.9\nGBM,adult,1,,0.7\n"),
    "AutoGluon of several metrics": one("model,score_test,eval_metric,fit_time,score_val,stack_level\nGBM,0.9,accuracy,5,1,1\n"
                                        "RF,0.8,f1,6,1,1\n", "adult_leaderboard.csv"),
    "AutoGluon of its own metric": one("model,score_test,eval_metric,fit_time,score_val,stack_level\nGBM,0.9,happiness,5,1,1\n",
                                       "adult_leaderboard.csv"),
    "nearly BARS": one("Year,Publication,Model,Recall@20\n2020,X,EASE,0.1\n2021,Y,Pop,0.2\n"),
    "battles in a text": one("model_a,model_b,winner\nA,B,model_a\n", "films.txt"),
    "battles with tabs": one("Model_A\tmodel_b\tWinner\nA\tB\tB\n B\tC\tLEFT\nC\tA\t0.5\n", "films.tsv"),
    "battles in JSON": document([{"model_a": "A", "model_b": "B", "winner": "tie"}, {"model_a": "B", "model_b": "A", "winner": "draw"}]),
    "battles of losers in lines": one(lines({"winner": "A", "loser": "B", "turn": 1}), "films.ndjson"),
    "a battle of models called after sides": one("model_a,model_b,winner\nb,a,b\nb,a,a\n"),
    "no battles in JSON": document([{"model": "A", "dataset": "x", "ndcg@10": 0.1}, {"model": "B", "dataset": "x", "ndcg@10": 0.2}]),
    "Cornac of means": document({"MF": {"NDCG@10": {"mean": 0.1, "std": 0.3}}, "BPR": {"NDCG@10": {"mean": 0.2, "std": 0.3}}}),
    "Cornac of users without values": document({"MF": {"NDCG@10": {}}, "BPR": {}}),
    "Cornac's validation": one("VALIDATION:\n...\n    | NDCG@10 | Time (s)\n--- + ------- + --------\nMF  |  0.9000 |   1.0\n\nTEST:\n...\n"
                               "    | NDCG@10 | Train (s)\n--- + ------- + --------\nMF  |  0.1000 |   2.0\nBPR |  0.2000 |   3.0\n\n"
                               "VALIDATION:\n...\n    | NDCG@10\n--- + -------\nMF  |  0.8000\n\nTEST:\n...\n    | NDCG@10\n--- + -------\nMF  |  0.3000\n",
                               "toya.log"),
    "nearly Elliot": one("model,nDCG\nItemKNN_nn=20_sim=cosine,0.3\nPop,0.1\n", "films.csv"),
    "Elliot of another folder": several({"toya/tables/rec_cutoff_5_relthreshold_0_x.tsv": "model\tHR\nPop_a=1\t0.3\nPop_b=1\t0.1\n"}),
    "Elliot's tests": one("model_1\tmodel_2\tp\nA\tB\t0.1\n", "stat_paired_ttest_cutoff_10.tsv"),
    "Elliot's settings": one("model\tx\nA\t1\n", "bestmodelparams_cutoff_10.tsv"),
    "Elliot's lists": several({"toya/recs/ItemKNN.tsv": "u1\ti1\t0.5\nu1\ti2\t0.25\n"}),
    "nearly Elliot's lists": several({"toya/lists/ItemKNN.tsv": "u1\ti1\t0.5\nu1\ti2\t0.25\n"}),
    "nearly Every Eval Ever": document({"schema_version": "1", "evaluation_results": []}),
    "Every Eval Ever without names": document({
        "schema_version": "1", "model_info": {"id": "org/m", "name": "m"}, "eval_library": {"version": 2},
        "evaluation_results": [
            {"evaluation_name": "t0", "score_details": {"score": None}},
            {"evaluation_name": "t1", "metric_config": {"metric_id": "Exact_Match", "metric_name": ""},
             "score_details": {"score": 1, "uncertainty": {"standard_error": 0.25, "confidence_interval": {"lower": 0, "upper": 9}}}},
            {"evaluation_name": "t2", "metric_config": {"metric": "f1"},
             "score_details": {"score": 0.5, "uncertainty": {"confidence_interval": {"lower": 0.5, "upper": 0.5}}}},
            {"evaluation_name": "t3", "score_details": {"score": 0.5, "confidence_interval": {"lower": 0.25}}},
        ]}),
    "samples of Every Eval Ever by their places": one(lines(
        {"schema_version": "instance_level_eval_0.1", "evaluation_name": "t", "model_id": "m", "sample_idx": 4, "evaluation": {"score": 0.5}},
        {"schema_version": "instance_level_eval_0.1", "evaluation_name": "t", "model_id": "m", "sample_idx": 4, "evaluation": {"score": 1}}), "x.jsonl"),
    "nearly fev": one("model_name,dataset_path,MASE\nA,x/y.csv,0.5\nB,x/y.csv,0.6\n"),
    "fev with tasks": one("model_name,dataset_path,task_name,dataset_config,test_error\nA,x/y.csv,t1,c1,0.5\nA,x/y.csv,,c1,0.7\nA,x/y.csv,,,0.9\n"),
    "nearly HELM": document([{"name": "exact_match", "split": "test", "mean": 0.5}]),
    "HELM's specification": document({"adapter_spec": {}, "scenario_spec": {}}, "run_spec.json"),
    "HELM in several tables": document([{"title": "A", "header": ["Model", "X - EM"], "rows": [["m", 0.5]]},
                                        {"title": "B", "header": ["Model", {"value": "Y - F1", "lower_is_better": False}], "rows": [["m", float("nan")], ["n", 1]]}]),
    "HELM by instance on two splits": several({"boolq:model=org_m/per_instance_stats.json": json.dumps([
        {"instance_id": "id1", "stats": [{"name": {"name": "f1", "split": "valid"}, "mean": 1}]},
        {"instance_id": "id2", "stats": [{"name": {"name": "f1", "split": "test"}, "mean": 0.5}, {"name": {"name": "runtime", "split": "test"}, "mean": 3}]}])}),
    "nearly Inspect": document({"eval": {"task": "sum", "model": "m"}, "samples": []}),
    "Inspect of one scorer": document({**INSPECT, "eval": {"task": "sum", "model": "m/a"},
                                       "samples": [{"id": "a", "scores": {"match": "C"}}, {"id": "b", "scores": {"match": {"value": "N"}}},
                                                   {"id": "c", "scores": {"match": {"value": "unclear"}}}, {"id": "d"}]}),
    "nearly ir_measures": one("nDCG@10\t0.5\nsomething\t0.1\n", "bm25.txt"),
    "ir_measures of means": one("nDCG@10\t0.5\nRR\t0.25\nSuccess@1\t0.75\n", "ir_measures_bm25.txt"),
    "nearly LensKit": one("model,user_id,NDCG,comment\nA,1,0.5,x\nA,2,0.1,y\n"),
    "LensKit without a model": one("user_id,NDCG@10\n1,0.5\n2,0.1\n"),
    "LensKit on datasets": one("model,dataset,user_id,NDCG@10\nA,x,1,0.5\nA,x,2,0.1\nB,x,1,0.3\n"),
    "LensKit's lists": one("user_id,item_id,score\n1,2,0.5\n1,3,0.25\n"),
    "no lists of LensKit": one("user_id,item_id,NDCG@10\n1,2,0.5\n1,3,0.25\n"),
    "LensKit with its index": one(",recommender,partition,user_id,RBP,Precision@5\n0,A,1,7,0.5,0.25\n1,A,1,8,0.25,0.75\n"),
    "nearly lm-eval": document({"results": {"t": {"acc,none": 0.5}}, "model_name": "m"}),
    "lm-eval of words": document({"results": {"t": "none"}, "versions": {}}),
    "lm-eval with its version": document({"results": {"t": {"acc,none": 0.5, "acc_stderr,none": "N/A", "mcc,none": -0.5, "f1": 0.5, "f1_stderr": 0.1}},
                                          "lm_eval_version": "0.4", "git_hash": "abc", "n-shot": {"t": "many"}, "model_name": "m",
                                          "config": {"model_args": "pretrained=x"}, "higher_is_better": {"t": {"acc": False, "mcc": "yes"}}}),
    "lm-eval with settings in a document": document({"results": {"t": {"acc": 0.5}}, "config_general": {"model_name": "org/n", "model": "hf"}}),
    "samples of lm-eval beside results": several({
        "a/samples_t_x_2026-01-02T03-04-05.6.jsonl": lines({"doc_id": 3, "resps": [], "metrics": ["exact_match", "note"], "exact_match": True, "note": "x"}),
        "a/results_2026-01-02T03-04-05.6.json": json.dumps({"results": {"t_x": {"exact_match,none": 1.0}}, "versions": {}, "model_name": "org/m"})}, folder=True),
    "samples of lm-eval without a date": several({"org__m/samples_t.jsonl": lines({"doc_id": 3, "resps": [], "metrics": ["acc"], "acc": 1}, {"doc_id": 3, "resps": [], "metrics": ["acc"], "acc": 0})}),
    "nearly MLflow": one("run_id,status,ndcg@10,model\n1,FINISHED,0.5,A\n2,FAILED,0.4,B\n"),
    "MLflow with a parameter and a tag": one("run_id,status,tags.model,params.algorithm,params.model,params.cv_fold,metrics.ndcg@10,metrics.ndcg@10_std\n"
                                             "1,FINISHED,T,P,M,0,0.5,0.1\n2,FINISHED,T,P,N,1,0.4,0.1\n"),
    "nearly MTEB": document({"mteb_version": "1.12", "scores": {"test": [{"main_score": 0.5}]}}),
    "MTEB's model": document({"revision": "x", "n_parameters": 1, "max_tokens": 2}, "model_meta.json"),
    "MTEB of one revision": several({"r/org__m/abcdef1/T.json": json.dumps({"mteb_version": "1.12", "task_name": "T", "scores": {"dev": [{"main_score": 0.5}]}}),
                                     "r/org__m/notes/T.md": "nothing"}, folder=True),
    "MTEB without a revision": several({"r/org__m/T.json": json.dumps({"mteb_version": "1.12", "task_name": "T", "scores": {"test": [{"main_score": 0.5}]}}),
                                        "r/other/no_revision_available/T.json": json.dumps({"mteb_version": "1.12", "task_name": "T", "scores": {"test": [{"main_score": 1}]}})}),
    "nearly OmniRec": document({"toya-0a1b": [{"algorithm": "A", "name": "NDCG"}]}),
    "OmniRec's lists": document({"user": {"0": "u"}, "item": {"0": "i"}, "score": {"0": 1}}),
    "OmniRec of one dataset twice": document({"toya-0a1b": [{"algorithm": "A", "name": "NDCG", "k": 5, "value": 0.5}],
                                              "toya-0a1c": [{"algorithm": "A", "name": "NDCG", "k": 5, "value": 0.25}]}),
    "nearly OpenML": one("@relation toys\n@attribute row_id numeric\n@attribute colour {a,b}\n@data\n0,a\n", "x.arff"),
    "OpenML by its attributes": one("@relation toys\n@attribute row_id numeric\n@attribute Prediction {a,b}\n@attribute truth {a,b}\n"
                                    "@data\n0,a,a\n1,?,a\n2,b,a\n", "svm_toys.arff"),
    "nearly Optuna": one("number,value,datetime_start\n0,0.1,t\n1,0.2,t\n"),
    "Optuna's trials of an error": one("number,values_rmse,datetime_start,user_attrs_data,state\n0,3,t,toya,complete\n1,5,t,toya,COMPLETE\n2,1,t,toya,PRUNED\n", "SLIM_tuning.csv"),
    "Optuna's journal of two studies": one(lines(
        {"op_code": 0, "study_name": "ALS on yelp", "directions": [2]}, {"op_code": 0, "study_name": "foo_bar", "directions": [1]}) + "no line of it\n" + lines(
        {"op_code": 2, "study_id": 1, "user_attr": {"Algorithm": "SLIM", "task": "toya"}}, {"op_code": 2, "study_id": 7, "user_attr": {"model": "x"}},
        {"op_code": 4, "study_id": 1}, {"op_code": 4, "study_id": 0}, {"op_code": 6, "trial_id": 1, "state": 1, "values": [0.5]},
        {"op_code": 6, "trial_id": 0, "state": 1, "values": [7]}, {"op_code": 4, "study_id": 1, "state": 1, "values": [5]},
        {"op_code": 6, "trial_id": 9, "state": 1, "values": [1]}, {"op_code": 4, "study_id": 9, "state": 1, "values": [1]}), "journal.log"),
    "nearly ranx": document({"metrics": ["ndcg@10"], "models": ["A"]}),
    "ranx's lists in a table": one("q_id,doc_id,score\nq1,a,0.5\nq1,b,0.25\n"),
    "scores that are words": document({f"u{i}": {"a": 0.5, "b": "x"} for i in range(5)}),
    "empty lists of users": document({f"u{i}": {} for i in range(5)}),
    "nearly RecBole": one("the test result of today: none\n", "a.log"),
    "RecBole's log that is empty": one("\n", "BPR-toya-Nov-15-2026_10-16-39.log"),
    "RecBole's Pop": document({"model": "Pop", "dataset": "x", "test_result": {"ndcg@10": 0.1}}),
    "RecBole in a folder": several({"yelp/results.json": json.dumps({"test_result": {"ndcg@10": 0.1}})}),
    "nearly RecPack": document({"NDCGK_10": {"A": 0.1}, "NDCG": {"A": 0.1}}),
    "RecPack's search": document({"identifier": {"0": "A"}, "params": {"0": "x"}, "NDCGK_10": {"0": 0.1}}),
    "RecPack by algorithm": document({"A(x=1)": {"NDCGK_10": 0.1, "CalibratedRecallK_10": 0.5}, "B(x=1)": {"NDCGK_10": None, "CalibratedRecallK_10": 0.25}}),
    "RecPack in a table": one("identifier,NDCGK_10\nA(x=1),0.1\nB(y=2),0.2\n"),
    "nearly RecPack's table": one("identifier,NDCGK_10,note\nA(x=1),0.1,x\nB(y=2),0.2,y\n"),
    "nearly RecTools": one("model,i_split,dataset,NDCG@10\nA,0,x,0.1\nB,0,x,0.2\n"),
    "RecTools' lists": one("user_id,item_id,score,rank\n1,2,0.5,1\n"),
    "nearly RePlay": one("method,NDCG@10,Surprisal@10\nA,0.5,0.1\nB,0.4,0.2\n"),
    "RePlay without intervals": one("model,NDCG@10,Surprisal@10\nA,0.5,0.1\nB,0.4,0.2\n"),
    "nearly responses": one("classifier,i1,i2\nRF,1,0\nSVM,1,1\n"),
    "responses of other numbers": one("classifier,i1,i2,i3\nRF,1,0,2\nSVM,1,1,0\n"),
    "responses with semicolons": one("Respondent;i1;i2;i3\nRF;1.0;0.0;1\nSVM;1;;0\n"),
    "nearly SWE-bench": document({"resolved_ids": ["a"], "total": 3}),
    "nearly a submission to SWE-bench": document({"resolved": ["a"], "total": 3}),
    "SWE-bench of numbers": document({"resolved_ids": [1], "unresolved_ids": [2]}),
    "nearly trec_eval": one("map q1 0.5\nmap q2 0.5\nmap q3 0.5\nmap q4 0.5\nfoo q5 0.5\n"),
    "mostly trec_eval": one("map q1 0.5\nmap q2 0.5\nmap q3 0.5\nmap q4 0.5\nmap q5 0.5\nfoo q5 0.5\n"),
    "counts of trec_eval alone": one("num_q all 3\nrunid all bm25\n", "bm25.txt"),
    "nearly a run": several({"a/x.trec": "q1 Q1 a 1 9 bm25\n", "a/y.qrels": "q1 0 a 1\n"}, folder=True),
    "a run with words for scores": several({"a/x.trec": "q1 Q0 a 1 nine bm25\n", "a/y.qrels": "q1 0 a 1\n"}, folder=True),
    "a run that is cut": several({"a/x.trec": "q1 Q0 a 1 9 bm25\n" * 61 + "q2 Q0 b\n", "a/y.qrels": "q1 0 a 1\n"}, folder=True),
    "a run with an infinite score": several({"a/x.trec": "q1 Q0 a 1 inf bm25\n", "a/y.qrels": "q1 0 a 1\n"}, folder=True),
    "runs of two systems in one file": several({"a/run-both.trec": "q1 Q0 a 1 9 one\nq1 Q0 b 2 8 two\n", "y.qrels": "q1 0 b 1\n"}, folder=True),
    "WarpRec's tests": one("Model A\tModel B\tp\nA\tB\t0.1\n", "x.tsv"),
    "WarpRec's lists": several({"toya/recs/A.tsv": "user_id\titem_id\trating\n1\t2\t0.5\n"}),
    "nearly WarpRec": one("Top@k\tModel\tnDCG\n5\tA\t0.5\n5\tB\t0.4\n", "x.tsv"),
    "WarpRec of another folder": several({"toya/tables/Overall_Results_x.tsv": "Model\tTop@k\tnDCG\nA\t5\t0.5\n", "yelp/A_k_5_per_user_x.tsv": "user_id\tnDCG\n1\t0.5\n2\t0.1\n"}),
}  # fmt: skip

FINGERPRINT = "0123456789abcdef"
SMALL_LISTS |= {
    name: ({file: text, **(more or {})}, read or file)
    for name, file, text, read, more in (
        ("ranks and scores", "A.csv", "user,item,rank,score\nu1,a,1,0.9\nu1,b,2,0.5\nu2,c,1,0.7\n", None, None),
        ("no order", "A.csv", "user,item\nu1,a\nu1,b\nu2,c\n", None, None),
        ("several algorithms", "A.csv", "model,user,item,score\nX,u1,a,1\nY,u1,b,2\n,u1,c,3\n", None, None),
        ("several algorithms without order", "A.csv", "model,user,item\nX,u1,a\nY,u1,b\nX,u1,c\n", None, None),
        ("two columns", "A.csv", "u1,1\nu1,2\nu2,3\n", None, None),
        ("three columns", "A.tsv", "u1\ta\t0.5\nu1\tb\t0.25\n", None, None),
        ("four columns", "A.csv", "u1,a,1,0.5\nu1,b,2,0.25\n", None, None),
        ("four columns, the rank last", "A.csv", "u1,a,0.5,1\nu1,b,0.25,2\n", None, None),
        ("four columns of whole numbers", "A.csv", "u1,a,1,9\nu1,b,2,8\n", None, None),
        ("two columns of scores", "A.csv", "user,item,prediction,score\nu1,a,1,9\nu1,b,2,8\n", None, None),
        (
            "a split in a column and beside",
            "A.csv",
            f"user,item,score,split\nu1,a,1,{FINGERPRINT}\n",
            None,
            {"split.json": '{"fingerprint": "ffffffffffff"}'},
        ),
        ("five columns", "A.csv", "u1,a,1,0.5,7\nu1,b,2,0.25,8\n", None, None),
        ("no numbers", "A.csv", "u1,a,x\nu1,b,y\nu2,c,z\n", None, None),
        ("an unknown header", "A.csv", "who,what,score\nu1,a,1\nu1,b,2\n", None, None),
        ("a column twice", "A.csv", "user,item,item,score\nu1,a,b,1\n", None, None),
        ("ranks from 0", "A.csv", "user,item,rank\nu1,a,0\nu1,b,1\n", None, None),
        ("one line", "A.csv", "u1,a,x\n", None, None),
        ("a gap in the ranks", "A.csv", "user,item,rank\nu1,a,\nu1,b,1\n", None, None),
        ("a rank below 0", "A.csv", "user,item,rank\nu1,a,-1\nu1,b,2\n", None, None),
        ("a score that is a word", "A.csv", "user,item,score\nu1,a,1\nu1,b,high\n", None, None),
        ("an infinite score", "A.csv", "user,item,score\nu1,a,inf\n", None, None),
        ("an empty score", "A.csv", "user,item,score\nu1,a,\nu1,b,2\n", None, None),
        ("a field too many", "A.csv", "user,item,score\nu1,a,1\nu1,b,2,3,4\n", None, None),
        ("typed header", "A.inter", "user_id:token\titem_id:token\tscore:float\nu1\ta\t1\n", None, None),
        ("lists in rows", "A.csv", 'user,items\nu1,"[a, b]"\nu2,c\n', None, None),
        ("single items called items", "A.csv", "user,items,score\nu1,a,1\nu2,b,2\n", None, None),
        ("lines of lists", "A.txt", "u1: a, b, c, d, e\nu2: a, b, c, d, f\n", None, None),
        ("lines of one user", "A.txt", "u1: a, b, c, d, e\nu1: a, b, c, d, f\n", None, None),
        ("lines of short lists", "A.txt", "u1: a, b, c, d\nu2: a, b, c, d\n", None, None),
        ("a run of TREC", "run.trec", "u1 Q0 a 1 0.9 bm25\nu1 Q0 b 2 0.5 bm25\n", None, None),
        ("a run without a name", "mine.trec", "u1 Q0 a 1 0.9 0\n\n u1 Q0 b 2 0.5 0 \n", None, None),
        ("runs of two systems", "run.trec", "u1 Q0 a 1 0.9 one\nu1 Q0 b 1 0.5 two\n", None, None),
        ("qrels", "x.qrels", "u1 0 a 1\nu1 0 b 0\nu2 0 a 2\n", None, None),
        ("qrels with a word", "x.qrels", "u1 0 a 1\nu1 0 b yes\n", None, None),
        ("scores in JSON", "A.json", '{"u1": {"a": 0.5, "b": 0.25}, "u2": {"c": -1}}', None, None),
        ("order in JSON", "A.json", '{"u1": ["a", ["b", 3]], "u2": ["c"]}', None, None),
        (
            "records in lines",
            "A.jsonl",
            '{"user": "u1", "item": "a", "score": 1}\n{"user": "u1", "item": "b", "score": 2}\n',
            None,
            None,
        ),
        (
            "records in lines with blanks",
            "A.jsonl",
            '{"user": "u1", "item": "a", "score": 1}\n \n{"user": "u1", "item": "b", "score": 2}\n\n',
            None,
            None,
        ),
        (
            "an unknown header of many",
            "A.csv",
            "a,b,c,d,e,f,g,h,i,score\n" + "x," * 9 + "1\n" + "y," * 9 + "2\n",
            None,
            None,
        ),
        (
            "plain columns in JSON",
            "A.json",
            '{"user": ["u1", "u2"], "item": ["a", "b"], "score": [1, 0.5]}',
            None,
            None,
        ),
        ("a text called Parquet", "A.parquet", "user,item,score\nu1,a,1\n", None, None),
        ("two columns twice", "A.csv", "user,score,item,item,score\nu1,1,a,b,1\n", None, None),
        ("mixed users in JSON", "A.json", '{"user_id": [1, "u2"], "item_id": ["a", 2], "rank": [1, 1]}', None, None),
        ("mixed columns of pandas", "A.json", '{"user": {"0": 1, "1": "b"}, "item": {"0": "a", "1": 2}}', None, None),
        ("columns in JSON", "A.json", '{"user_id": ["u1", "u2"], "item_id": ["a", "b"], "rank": [1, 1]}', None, None),
        ("columns of pandas", "A.json", '{"user": {"0": "u1"}, "item": {"0": "a"}, "score": {"0": 0.5}}', None, None),
        ("mixed JSON", "A.json", '{"u1": ["a"], "u2": {"b": 1}}', None, None),
        ("words in JSON", "A.json", '{"u1": {"a": "high"}}', None, None),
        ("mixed records", "A.json", '[{"user": "u1", "item": ["a"]}, {"user": "u1", "item": 3}]', None, None),
        ("no lists in JSON", "A.json", "[]", None, None),
        ("broken JSON", "A.json", '{"u1": ', None, None),
        ("no LZ4", "A.lz4", b"\x04\x22\x4d\x18\x00", None, None),
        ("empty", "A.csv", "", None, None),
        ("no text", "A.csv", b"\xff\xfe\x00\x01\x02", None, None),
        ("a split in a column", "A.csv", f"user,item,score,split\nu1,a,1,{FINGERPRINT}\nu1,b,2,x\n", None, None),
        ("two splits", "A.csv", f"user,item,score,split\nu1,a,1,{FINGERPRINT}\nu1,b,2,{FINGERPRINT}0\n", None, None),
        (
            "a split beside",
            "A.csv",
            "user,item,score\nu1,a,1\n",
            None,
            {"split.json": f'{{"fingerprint": "{FINGERPRINT}"}}'},
        ),
        (
            "a split beside, by name",
            "A.csv",
            "user,item,score\nu1,a,1\n",
            None,
            {"split.json": "{}", "A.split.json": f'{{"fingerprint": "{FINGERPRINT}"}}'},
        ),
        (
            "a split beside, unnamed",
            "A.csv",
            "user,item,score\nu1,a,1\n",
            None,
            {"split.json": '{"fingerprint": "xyz"}'},
        ),
        (
            "a folder",
            "recs/A_nn=20_sim=x.tsv",
            "u1\ta\t0.5\nu1\tb\t0.25\n",
            ".",
            {
                "recs/B_01.02.2026_03-04-05.tsv": "u1\ta\t0.5\n",
                "recs/split.json": f'{{"fingerprint": "{FINGERPRINT}"}}',
            },
        ),
        ("a folder without lists", "notes.md", "nothing", ".", None),
    )
}

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"


def book(
    *sheets: str, space: str = MAIN, shared: str = "", states: tuple[str, ...] = (), target: str = "worksheets/s{}.xml"
) -> bytes:
    """A workbook of the rows of its sheets, each written as XML."""
    relation = MAIN.replace("spreadsheetml/2006/main", "officeDocument/2006/relationships")
    if space == STRICT:
        relation = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    named = "".join(
        f'<sheet name="d{i}" sheetId="{i}" r:id="rId{i}"{f" state={states[i - 1]!r}" if states else ""}/>'
        for i in range(1, len(sheets) + 1)
    )
    members = {
        "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{relation}"><sheets>{named}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": "<Relationships>"
        + "".join(f'<Relationship Id="rId{i}" Target="{target.format(i)}"/>' for i in range(1, len(sheets) + 1))
        + "</Relationships>",
        "xl/sharedStrings.xml": f'<sst xmlns="{space}">{shared}</sst>',
        **{
            f"xl/worksheets/s{i}.xml": f'<worksheet xmlns="{space}">{rows}</worksheet>'
            for i, rows in enumerate(sheets, 1)
        },
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in members.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return packed.getvalue()


def cells(*rows: tuple[object, ...]) -> str:
    """Rows of a sheet: texts stand in their cells, numbers as values."""

    def cell(value: object, place: str) -> str:
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return "" if value is None else f'<c r="{place}"><v>{value}</v></c>'

    lines = (
        f'<row r="{i}">' + "".join(cell(value, f"{'ABCDEFG'[j]}{i}") for j, value in enumerate(row)) + "</row>"
        for i, row in enumerate(rows, 1)
    )  # fmt: skip
    return f"<sheetData>{''.join(lines)}</sheetData>"


PLAIN_SHEET = cells(("model", "NDCG@10"), ("EASE", 0.3), ("Pop", 0.1))

SMALL_TABLES |= {
    "a workbook": one(book(PLAIN_SHEET), "films.xlsx"),
    "a strict workbook": one(book(PLAIN_SHEET, space=STRICT), "films.xlsx"),
    "sheets of datasets": one(book(PLAIN_SHEET, PLAIN_SHEET.replace("0.3", "0.5")), "films.xlsx"),
    "two sheets on one part": one(book(PLAIN_SHEET, PLAIN_SHEET.replace("0.3", "0.5"), target="worksheets/s1.xml"), "films.xlsx"),
    "sheets by their whole place": one(book(PLAIN_SHEET, target="/xl/worksheets/s{}.xml"), "films.xlsx"),
    "a sheet that is nowhere": one(book(PLAIN_SHEET, target="worksheets/t{}.xml"), "films.xlsx"),
    "HTML without rows": one("<table><td>Model</td><td>NDCG@10</td><tr><td>EASE</td><td>0.3</td></tr><tr><td>Pop<td>0.1</table>", "films.html"),
    "a table inside a cell of HTML": one("<table><tr><th>Model</th><th>NDCG@10</th></tr><tr><td><table><tr><td>EASE</td></tr></table></td><td>0.3</td></tr>"
                                         "<tr><td>Pop</td><td>0.1</td></tr></table>", "films.html"),
    "LaTeX with a broken macro": tex("Model & NDCG@10 & HR@10 \\\\ EASE\\multirow & 0.3 & 0.5 \\\\ \\multicolumn{x}{c}{Pop} & 0.1 & 0.2 \\\\"),
    "no algorithm but the file": one("Metric,Gowalla,MovieLens-1M\nNDCG@10,0.3,0.4\nHR@10,0.5,0.6\n", "EASE.csv"),
    "blank lines among battles": one('{"model_a": "A", "model_b": "B", "winner": "a"}\n\n \n{"model_a": "A", "model_b": "B", "winner": "b"}\n\nno\n', "x.jsonl"),
    "a hidden sheet": one(book(PLAIN_SHEET, PLAIN_SHEET.replace("0.3", "0.5"), states=("visible", "hidden")), "films.xlsx"),
    "merged cells of a workbook": one(book(cells(("Model", "NDCG@10", None), (None, "d1", "d2"), ("EASE", 0.3, 0.4), ("Pop", 0.1, 0.2))
                                           + '<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>'), "films.xlsx"),
    "a merged cell without a text": one(book(PLAIN_SHEET + '<mergeCells><mergeCell ref="D4:E5"/></mergeCells>'), "films.xlsx"),
    "a damaged workbook": one(book(PLAIN_SHEET, PLAIN_SHEET).replace(b"s2.xml", b"s1.xml"), "films.xlsx"),
    "shared texts of a workbook": one(book(
        '<sheetData><row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row><row r="2"><c t="s"><v>2</v></c><c><v>0.3</v></c></row>'
        '<row r="3"><c r="A3" t="str"><v>Pop</v></c><c r="B3" t="e"><v>#DIV/0!</v></c></row></sheetData>',
        shared='<si><t>model</t></si><si><r><t>NDCG@</t></r><r><t>10</t></r></si><si><r><t>EASE</t></r><r><rPr><vertAlign '
        'val="superscript"/></rPr><t>1</t></r></si>'), "films.xlsx"),
    "a workbook with a document type": one(book("<!DOCTYPE x>" + PLAIN_SHEET), "films.xlsx"),
    "a workbook that is too sparse": one(book(cells(("model", "NDCG@10"), ("EASE", 0.3)) + '<row r="900000"><c r="XFD900000"><v>1</v></c></row>'),
                                         "films.xlsx"),
    "braces in LaTeX": tex("Model & \\makecell{NDCG \\\\ @10} & {HR@10 \\& more} \\\\ {EASE & co} & {0.3} & 0.5 \\\\ Pop & 0.1 & 0.2 \\\\"),
    "no end in LaTeX": one("\\begin{tabular}{lc} Model & NDCG@10 \\\\ EASE & 0.3 \\\\ Pop & 0.1 \\\\", "films.tex"),
    "a table in a table of LaTeX": tex("Model & NDCG@10 & HR@10 \\\\ \\begin{tabular}{l}EASE\\end{tabular} & 0.3 & 0.5 \\\\ Pop & 0.1 & 0.2 \\\\"),
    "headers and names over two lines in LaTeX": tex("Model & \\begin{tabular}[c]{@{}c@{}}NDCG\\\\@10\\end{tabular} & \\begin{tabularx}{2cm}{c}HR\\\\@10\\end{tabularx} \\\\ "
                                                     "\\midrule \\begin{tabular}{l}Item\\\\KNN\\end{tabular} & 0.3 & 0.5 \\\\ \\hline {\\bf EASE} & 0.4 & 0.6 \\\\"),
    "a first name in braces in LaTeX": tex("{\\bf Model} & {NDCG@10} & HR@10 \\\\ \\midrule[1pt] {\\it EASE} & 0.3 & 0.5 \\\\ \\cmidrule(lr){2-3} Pop & 0.1 & 0.2 \\\\"),
    "a percent sign in LaTeX": tex("Model & NDCG@10 (\\%) & HR@10 \\\\ EASE & 30 & 0.5 \\\\ Pop & 10 & 0.2 \\\\"),
    "a cell over rows and columns": tex("\\multirow{2}{*}{Model} & \\multicolumn{2}{c}{\\multirow{2}{*}{x}} \\\\ & & \\\\ EASE & 1 & 2 \\\\"),
    "two tables of LaTeX": one(TEX.format("Model & NDCG@10 & HR@10 \\\\ EASE & 0.3 & 0.5 \\\\ Pop & 0.1 & 0.2 \\\\")
                               + TEX.format("Model & Recall@5 & MRR \\\\ EASE & 0.3 & 0.5 \\\\ Pop & 0.1 & 0.2 \\\\"), "films.tex"),
    "deviations among metrics": one("model,dataset,metric,value\nEASE,d1,NDCG@10,0.3\nEASE,d1,NDCG@10_std,0.02\nEASE,d1,val_ndcg@10,0.5\n"
                                    "Pop,d1,NDCG@10,0.1\nPop,d1,NDCG@10_std,0.01\nPop,d1,val_ndcg@10,0.4\n"),
    "numbers beside values": one("model,dataset,metric,value,median,epochs\nEASE,d1,NDCG@10,0.3,0.2,5\nPop,d1,NDCG@10,0.1,0.1,6\n"),
    "a mean beside metrics": one("model,dataset,NDCG@10,HR@10,mean\nEASE,d1,0.3,0.5,0.4\nPop,d1,0.1,0.2,0.15\n"),
    "a study of three names": one(lines({"op_code": 0, "study_name": "ALS / yelp / long", "directions": [2]},
                                        {"op_code": 4, "study_id": 0, "state": 1, "values": [0.5]}), "journal.log"),
    "blank lines in trec_eval": one("map q1 0.5\n\n\nmap q2 0.1\n\nndcg_cut_10 q1 0.5\n", "trec_eval_q_bm25.txt"),
    "a first row of words": one("model,dataset,NDCG@10\nEASE,d1,n/a\nPop,d1,0.1\n"),
    "names in quotes": one('model,dataset,NDCG@10\n"EASE, tuned",d1,0.3\n"Pop ""best""",d1,0.1\n'),
    "mixed users": one("model,dataset,user,NDCG@10\nEASE,d1,u1,0.2\nEASE,d1,u2,0.6\nPop,d1,,0.1\n"),
    "tuples of other lengths": one("name,NDCG@10\n\"('EASE', 'd1')\",0.3\n\"('Pop',)\",0.1\n", wide=True),
    "several metrics of datasets": one("Model,d1,,d2,\n,NDCG,HR,NDCG,HR\n,@10,@10,@5,@5\nEASE,0.3,0.5,0.4,0.6\nPop,0.1,0.2,0.2,0.3\n"),
    "footnotes of names": one("| Model | NDCG@10 |\n|--|--|\n| SASRec^† | 0.3 |\n| NGCF [12] | 0.1 |\n| `GRU4Rec` | 0.2 |\n| <b>BPR</b> | 0.1 |\n", "films.md"),
    "tags that are names": one("| Model | NDCG@10 |\n|--|--|\n| EASE <a> | 0.3 |\n| EASE <b> | 0.1 |\n", "films.md"),
    "a dataset in the name of the file": one("model,NDCG@10\nEASE,0.3\nPop,0.1\n", "results_2026-11-15_ml-1m_final.csv"),
    "a dataset in the folder": several({"yelp/results/run_3/results.csv": "model,NDCG@10\nEASE,0.3\nPop,0.1\n"}),
    "metrics of a caption": one("# results\nTable 3\nmodel,d1,d2\nEASE,0.3,0.4\nPop,0.1,0.2\n", "hr@5 of all.csv"),
    "an answer in JSON lines with a mistake": one('{"model_a": "A", "model_b": "B", "winner": "a"}\nno\n', "x.jsonl"),
    "a list in JSON lines": one('{"model_a": "A", "model_b": "B", "winner": "a"}\n[1]\n', "x.jsonl"),
    "percent in a long column": one("model,dataset,metric,value\nEASE,d1,NDCG@10,30%\nPop,d1,NDCG@10,10 %\nALS,d1,NDCG@10,20\\%\n"),
    "a number with a power": one("model,dataset,RMSE\nEASE,d1,1.5e-3\nPop,d1,2 × 10^-3\nALS,d1,3\\times10^{-3}\n"),
}  # fmt: skip


SMALL_TABLES |= {
    # Edges of cells, remarks, documents and folders
    "percent beside one": one("model,dataset,NDCG@10\nEASE,d1,30%\nPop,d1,1\n"),
    "percent beside a marked number": one("model,dataset,NDCG@10\nEASE,d1,30%\nPop,d1,**12**\n"),
    "an absent cell with long marks": one("model,dataset,NDCG@10\nEASE,d1,\\textcolor{gray}{OOM}\nPop,d1,0.1\nALS,d1,> 3 days\n"),
    "apostrophes between thousands": one("model,dataset,Time (s)\nEASE,d1,1'234\nPop,d1,12’345.5\n"),
    "intervals in brackets": one("model,dataset,NDCG@10\nEASE,d1,\"0.4 [0.3, 0.5]\"\nPop,d1,\"0.2 (0.1; 0.3)\"\n"),
    "a remark of four words": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.2\nmade by our group\n"),
    "a last row of three words": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.2\nmade by us\n"),
    "remarks between rows": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nbest of all the others\nPop,0.1,0.2\n" + "a remark of so many letters that it is cut\n"),
    "a truth value in JSON": document({"EASE": {"ndcg@10": True, "hr@10": 0.5}, "Pop": {"ndcg@10": 0.1, "hr@10": 0.2}}),
    "four levels in JSON": document({"a": {"x": {"EASE": {"ndcg@10": 0.3}, "Pop": {"ndcg@10": 0.1}}}}),
    "split of pandas without an index": document({"columns": ["model", "ndcg@10"], "data": [["EASE", 0.3], "x", ["Pop", 0.1]]}),
    "wrapped records of several": document({"runs": [], "results": [{"model": "EASE", "ndcg@10": 0.3}, {"model": "Pop", "ndcg@10": 0.1}], "dataset": "d1", "more": [1]}),
    "leaves of other depths": document({"EASE": {"ndcg@10": 0.3}, "hr@10": 0.5}),
    "statistics in JSON": document({"EASE": {"ndcg@10": {"mean": 0.3, "max": 0.4, "median": 0.3}}, "Pop": {"ndcg@10": {"mean": 0.1, "max": 0.4, "median": 0.3}}}),
    "algorithms with digits in JSON": document({"GRU4Rec": {"ndcg@10": 0.3}, "EASE": {"ndcg@10": 0.1}}),
    "tuples as keys": document({"('EASE', 'd1')": {"ndcg@10": 0.3}, "('ItemKNN', 'd1')": {"ndcg@10": 0.1}}),
    "four places": several({f"{name}.csv": "model,NDCG@10\nA,0.1\nB,0.2\n" for name in "wxyz"}),
    "a place by its end": several({"a.csv": LONG + "A,x,ndcg@10,0.1\n", "b.csv": LONG + "A,x,ndcg@10,0.3\n"}, prefer="b.csv"),
    "the first of two": several({"a.csv": LONG + "A,x,ndcg@10,0.1\n", "b.csv": LONG + "A,x,ndcg@10,0.3\nB,x,ndcg@10,0.3\n"}, prefer="first"),
    "a gap and a value": several({"a.csv": LONG + "A,x,ndcg@10,\nB,x,ndcg@10,0.2\n", "b.csv": LONG + "A,x,ndcg@10,0.3\n"}),
    "one cell with seeds and without": several({"a.csv": "model,dataset,seed,NDCG@10\nA,x,1,0.1\nA,x,2,0.3\n", "b.csv": LONG + "A,x,ndcg@10,0.2\n"}),
    "words of two places": several({"a.csv": "model,task,accuracy\nA,t1,0.5\n", "b.csv": "model,dataset,accuracy\nB,t2,0.5\n"}),
    "splits in folders": several({f"films/split_{n}/results.csv": f"model,NDCG@10\nA,0.{n}\nB,0.2\n" for n in (1, 2)}, folder=True),
    "a folder with other files": several({"films.csv": "model,NDCG@10\nA,0.1\nB,0.2\n", "~$films.csv": "x", ".films.csv": "x", "films.csv.bak": "x", "wandb/a.csv": "x",
                                          "a.json": json.dumps({f"u{i}": {"a": 0.5} for i in range(5)}), "b.json": json.dumps({f"u{i}": {"a": 1} for i in range(5)})}, folder=True),
    "seeds of files that have their own": several({"seed_1/films.csv": "model,seed,NDCG@10\nA,7,0.1\nB,7,0.2\n"}, folder=True),
    "two searches": several({"d1.csv": "model,NDCG@10\nA,0.1\nA,0.3\n", "d2.csv": "model,NDCG@10\nA,0.1\nA,0.2\nB,0.1\n"}, folder=True),
    "spaces with remarks": one("model  NDCG@10  HR@10\nEASE   0.3      0.5\nPop    0.1      0.2\nMF     0.2      0.3\nFM     0.2      0.4\nall on one machine\n", "films.txt"),
    "spaces with too many remarks": one("model  NDCG@10  HR@10\nEASE   0.3      0.5\nPop    0.1      0.2\nall on one\nmachine\n", "films.txt"),
    "spaces below a long title": one("a\nb\nc\nd\nmodel  NDCG@10  HR@10\nEASE   0.3      0.5\nPop    0.1      0.2\nMF     0.2      0.3\n", "films.txt"),
    "two lines of spaces": one("model  NDCG@10\nEASE   0.3\n", "films.txt"),
    "Markdown without outer bars": one("Model | NDCG@10 | HR@10\n--- | --- | ---\nEASE | 0.3 | 0.5\nPop | 0.1 | \n", "films.md"),
    "Markdown of one row": one("| Model | NDCG@10 |\n|--|--|\n", "films.md"),
    "dashes over two tables": one("model      NDCG@10\n-------  ---------\nEASE           0.3\nPop            0.1\n\nmodel      HR@10\n-------  -------\nEASE         0.5\n", "films.txt"),
    "a comment of an index": one("#,model,NDCG@10\n1,EASE,0.3\n2,Pop,0.1\n"),
    "a title of no parts": one("\n\nResults\nmodel\tdataset\tNDCG@10\nEASE\td1\t0.3\nPop\td1\t0.1\n"),
    "a caption that names its metric twice": tex("Model & d1 & d2 \\\\ EASE & 0.3 & 0.4 \\\\ Pop & 0.1 & 0.2 \\\\", "\\caption{NDCG@10 and ndcg@10}"),
    "metrics of two datasets, one in percent": one("Model,d1 N@10,d2 N@10\nEASE,1,0.4\nPop,0.1,0.2\n"),
    "HTML with text between cells": one("<table><tr><th>Model</th>x<th>NDCG@10</th>y</tr>z<tr><td>EASE</td>x<td>0.3</td>y</tr><tr><td>Pop</td><td>0.1</td></tr></table>", "films.html"),
    "a field too many, semicolons": one("model;dataset;NDCG@10\nEASE;d1;0,1\nPop;d1;0,2;extra\n"),
    "a run and its own judgements by case": several({"run_ONE.txt": "q1 Q0 a 1 9 bm25\n", "One.qrels.txt": "q1 0 a 1\n", "two.qrels.txt": "q1 0 b 1\n"}, folder=True),
    "a place that lacks the cell": several({"a.csv": LONG + "A,x,ndcg@10,0.1\n", "b.csv": LONG + "A,x,ndcg@10,0.3\n", "c.csv": LONG + "B,x,ndcg@10,0.3\n"}, prefer="c.csv"),
    "several of other scales": one("Model,d1 N@10,d2 N@10,d3 N@10\nEASE,0.3,40,50\nPop,0.1,20,30\n"),
    "remarks of forty letters": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.2\n" + "note " + "x" * 35 + "\nnote " + "y" * 36 + "\n"),
    "a text called Parquet": one("model,NDCG@10\nEASE,0.3\nPop,0.1\n", "films.parquet"),
    "many unknown columns": one("model,dataset,NDCG@10," + ",".join(f"x{n}" for n in range(10)) + "," + ",".join(f"note {n}" for n in range(10)) + "\n"
                                + "".join(f"{name},d1,0.3" + ",7" * 10 + ",good" * 10 + "\n" for name in ("EASE", "Pop"))),
    "split of pandas by name": document({"columns": ["ndcg@10"], "index": ["EASE", "ItemKNN"], "data": [[0.3], [0.1]]}),
    "records with scores": document([{"model": "EASE", "scores": {"ndcg@10": 0.3}}, {"model": "Pop", "scores": {"ndcg@10": 0.1}}]),
    "frameworks of two datasets": one("algorithm,dataset,metric,value,framework\nA,x,ndcg@10,0.1,F\nB,x,ndcg@10,0.2,G\nA,y,ndcg@10,0.1,F\nB,y,ndcg@10,0.1,H\nC,z,ndcg@10,0.1,F\n"),
    "a storage without a version": one(unversioned(optuna("COMPLETE")), "studies.db"),
    "a packed log of Inspect": one(evaluated(header={key: value for key, value in INSPECT.items() if key != "samples"}, journal__start={"eval": 1},
                                             samples__1={"id": 1, "scores": {"match": {"value": "C"}}}, samples__2={"id": 2, "scores": {"match": {"value": "I"}}}), "x.eval"),
    "Inspect with totals that are words": document({**INSPECT, "samples": [], "results": {"scores": [
        {"name": "match", "metrics": {"accuracy": {"value": 0.5}, "f1": {"value": "none"}, "var": {"value": 0.1}}}]}}),
    "RecBole, printed below its dataset": one("dataset: y\nBPR: {'test_result': {'ndcg@10': 0.1}}\n", "a.txt"),
    "names in marks": one("model,dataset,NDCG@10\n**EASE**,d1,0.3\n\\textbf{Pop},<b>d1</b>,0.1\n"),
    "dashes below too": one("model      NDCG@10    HR@10\n-------  ---------  -------\nEASE           0.3      0.5\nPop            0.1      0.2\n-------  ---------  -------\n", "films.txt"),
    "an unnamed column and a kind": one(",kind,NDCG@10\nfoo,linear,0.3\nbar,simple,0.1\n"),
    "a Mean without others": one(LONG + "EASE,d1,ndcg@10,0.3\nPop,d1,ndcg@10,0.1\nMean,d2,ndcg@10,0.7\n"),
    "merges of a workbook that are none": one(book(PLAIN_SHEET + '<mergeCells><mergeCell/><mergeCell ref="A1"/><mergeCell ref=":B2"/></mergeCells>'), "films.xlsx"),
    "an empty shared text": one(book('<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v/></c></row>'
                                     '<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>0.3</v></c></row></sheetData>',
                                     shared="<si><t>model</t></si><si><t>NDCG@10</t></si><si><t>EASE</t></si>"), "films.xlsx"),
    "MTEB before, with other parts": document({"mteb_version": "1.0", "test": {"en": {"main_score": 0.5}, "more": {"x": 1}, "de": {"main_score": 0.4}}}),
    "AutoGluon's least": one("model,score_val,fit_time,stack_level\nGBM,0.9,5,1\nRF,0.8,6,1\n", "adult_leaderboard.csv"),
    "an empty sheet": one(book(PLAIN_SHEET, "<sheetData/>"), "films.xlsx"),
    "spaces with a wide remark": one("model  NDCG@10  HR@10\nEASE   0.3      0.5\nPop    0.1      0.2\nMF     0.2      0.3\nFM     0.2      0.4\nall  on  one  new  machine\n", "films.txt"),
    "MLflow with a column called model": one("run_id,status,model,tags.mlflow.runName,metrics.ndcg@10\n1,FINISHED,X,A,0.5\n2,FINISHED,X,B,0.4\n"),
    "much that is not known": one(",x1,x2,x3,x4\ny1,0.3,0.4,0.1,0.1\ny2,0.1,0.2,0.1,0.1\ny3,0.1,0.2,0.1,0.1\ny4,0.1,0.2,0.1,0.1\n", metric="ndcg@10"),
    "JSON lines with blanks": one('{"model": "EASE", "ndcg@10": 0.3}\n\n \n{"model": "Pop", "ndcg@10": 0.1}\n', "films.jsonl"),
    "an open quote, semicolons": one('model;dataset;NDCG@10\nEASE;d1;0.1\nPop;"d1;0.2\nALS;d1;0.3\n'),
    "a role of no column among many": one("a,b,c,d,e,f,g,h,i,j\n" + "1," * 9 + "1\n", columns={"value": "score"}),
    "submissions to SWE-bench": several({"verified/20240620_a/results/results.json": json.dumps({"resolved": ["i1"], "no_logs": []}),
                                         "verified/20240621_b/results/results.json": json.dumps({"resolved": ["i2"], "no_generation": ["i3"]}),
                                         "verified/20240622_c/results/results.json": json.dumps({"resolved": "i9", "no_generation": ["i8"]})}, folder=True),
    "a dataset called like a metric": one("model,precision,books\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True, metric="ndcg@10"),
    "datasets that are all called like metrics": one("model,precision,recall\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True, metric="ndcg@10"),
    "predictions of OpenML without rows": one("@relation openml_task_59_predictions\n@attribute prediction {a,b}\n@attribute correct {a,b}\n@data\na,a\n", "x.arff"),
    "predictions of nobody": one("@relation toys\n@attribute prediction {a,b}\n@attribute truth {a,b}\n@data\na,a\nb,a\n", "x.arff"),
    "predictions of OpenML with a gap": one("@relation openml_task_59_predictions\n@attribute row_id numeric\n@attribute prediction {a,b}\n@attribute correct {a,b}\n"
                                            "@data\n0,a,a\n1,?,?\n?,a,b\n", "svm.arff"),
    "trec_eval with hit rates": one("success_1 q1 1\nsuccess_1 q2 0\nsuccess_10 all 0.5\nndcg_cut_5 q1 0.5\nndcg_cut_5 q2 0.25\n", "bm25.txt"),
    "folds and splits": one("model,dataset,fold,split,NDCG@10\nEASE,d1,0,1,0.3\nEASE,d1,1,1,0.5\nPop,d1,0,1,0.1\nPop,d1,1,1,0.3\n"),
    "splits that are words": one("model,dataset,split,NDCG@10\nEASE,d1,a,0.3\nPop,d1,a,0.1\n"),
    "phases without a test": one("model,dataset,stage,NDCG@10\nEASE,d1,dev,0.3\nPop,d1,dev,0.1\n"),
    "phases with a gap": one("model,dataset,stage,NDCG@10\nEASE,d1,test,0.3\nEASE,d1,dev,0.5\nPop,d1,,0.1\n"),
    "packed, in capitals": one(gzip.compress((LONG + FOUR).encode(), mtime=0), "films.csv.GZ"),
    "a very hidden sheet": one(book(PLAIN_SHEET, PLAIN_SHEET.replace("0.3", "0.5"), states=("visible", "veryHidden")), "films.xlsx"),
    "an interval beside deviations": one("model,dataset,metric,value,lower,upper\nEASE,d1,NDCG@10,0.3±0.02,0.2,0.4\nPop,d1,NDCG@10,0.1±0.01,0.05,0.2\n"),
    "two columns of lower ends and one of upper": one("model,dataset,metric,value,lower,upper,high\nEASE,d1,NDCG@10,0.3,0.2,0.4,0.5\nPop,d1,NDCG@10,0.1,0,0.2,0.3\n"),
    "two averages of rows": one("model,NDCG@10\nEASE,0.3\nPop,0.1\nMean,0.2\nAverage rank,1.5\n"),
    "an average that is far from the mean": one("model,NDCG@10,HR@10\nEASE,0.3,0.5\nPop,0.1,0.3\nMean,0.2,0.43\n"),
    "rows of averages alone": one("model,NDCG@10\nMean,0.3\nAverage,0.1\n"),
    "rows of gains alone": one("model,NDCG@10\nImprovement,0.3\nGain,0.1\n"),
    "gains below two levels": one(",d1,d2,Improv.\n,NDCG@10,NDCG@10,NDCG@10\nEASE,0.3,0.4,3\nItemKNN,0.1,0.2,2\n"),
    "deviations in percent beside": one("model,dataset,NDCG@10 (%),std\nEASE,d1,30,2\nPop,d1,10,1\n"),
    "minutes with deviations beside": one("model,dataset,Training time (min),std\nEASE,d1,2,0.5\nPop,d1,1,0.25\n"),
    "numbers of which half are words": one("model,dataset,NDCG@10,Grade\nEASE,d1,0.3,1\nPop,d1,0.1,good\nALS,d1,0.2,fine\nMF,d1,0.2,2\n"),
    "cut-offs in a level": one("Model,NDCG,NDCG,HR@5\n,@10,@20,@10\nEASE,0.3,0.4,0.5\nPop,0.1,0.2,0.3\n"),
    "a dataset in double quotes": one('model,"(""d\'1"", \'NDCG@10\')","(\'d2\', \'NDCG@10\')"\nEASE,0.3,0.4\nPop,0.1,0.2\n'),
    "an average as values beside its error": one("model,dataset,average,stderr\nEASE,d1,0.3,0.02\nPop,d1,0.1,0.01\n", metric="ndcg@10"),
    "a standard error beside runs": one("model,dataset,metric,value,stderr,runs\nEASE,d1,NDCG@10,0.3,0.02,5\nPop,d1,NDCG@10,0.1,0.01,5\n"),
    "one dataset called Overall": one(LONG + "EASE,Overall,ndcg@10,0.3\nPop,Overall,ndcg@10,0.1\n"),
    "all datasets in percent": one("Model,d1 N@10,d2 N@10\nEASE,30,40\nPop,10,20\n"),
    "percent beside a marked one": one("model,dataset,NDCG@10\nEASE,d1,30%\nPop,d1,**1**\n"),
    "deviations of two doubles": several({"a.csv": "model,dataset,NDCG@10\nA,x,0.123\n", "b.csv": "model,dataset,NDCG@10\nA,x,0.123±0.02\n",
                                          "c.csv": "model,dataset,NDCG@10\nA,x,0.123±0.05\n"}),
    "a corner that is said to name the rows": tex("Model & x1 & x2 \\\\ foo & 0.3 & 0.4 \\\\ bar & 0.1 & 0.2 \\\\", metric="ndcg@10", columns={"algorithm": "Model"}),
    "panels beside datasets": tex("Dataset & Model & NDCG@10 \\\\ \\multicolumn{3}{c}{warm} \\\\ d1 & EASE & 0.3 \\\\ d2 & EASE & 0.4 \\\\ "
                                  "\\multicolumn{3}{c}{cold} \\\\ d1 & Pop & 0.1 \\\\ d2 & Pop & 0.2 \\\\"),
    "a stray end of a superscript": one("<table><tr><th>Model</th><th>NDCG@10</th></tr><tr><td></sup>EASE</td><td>0.3</td></tr><tr><td>Pop</td><td>0.1</td></tr></table>", "films.html"),
    "a superscript that does not end": one("<table><tr><th>Model</th><th>NDCG@10</th></tr><tr><td>EASE<sup>1</td><td>0.3</td></tr><tr><td>Pop</td><td>0.1</td></tr></table>", "films.html"),
    "an algorithm called like a metric in JSON": document({"ndcg@10": {"EASE": 0.3, "MAP": 0.1}, "hr@10": {"EASE": 0.5, "MAP": 0.2}}),
    "panels under an empty corner": one("|  | NDCG@10 | HR@10 |\n|--|--|--|\n| films | | |\n| EASE | 0.3 | 0.5 |\n| ItemKNN | 0.1 | 0.2 |\n"
                                        "| books | | |\n| EASE | 0.4 | 0.6 |\n| ItemKNN | 0.2 | 0.3 |\n", "all.md"),
    "panels of unknown rows under an empty corner": one("|  | NDCG@10 | HR@10 |\n|--|--|--|\n| films | | |\n| foo | 0.3 | 0.5 |\n| bar | 0.1 | 0.2 |\n"
                                                        "| books | | |\n| foo | 0.4 | 0.6 |\n| bar | 0.2 | 0.3 |\n", "all.md"),
    "wrapped records with a dataset of their own": document({"dataset": "d1", "results": [{"model": "EASE", "ndcg@10": 0.3}, {"model": "Pop", "dataset": "d2", "ndcg@10": 0.1}]}),
    "a row without any name": one("Dataset,Model,NDCG@10\nd1,EASE,0.3\n,,0.1\n"),
    "remarks alone": one("model,NDCG@10,HR@10\nNote: nothing was run,,\n"),
    "one compound header": one("Model,d1 - AUC\nEASE,0.3\nPop,0.1\n"),
    "folds of a file in a folder of a seed": several({"seed_1/films.csv": "model,fold,NDCG@10\nA,7,0.1\nB,7,0.2\n"}, folder=True),
    "columns said of a file of a framework": one("model,i_split,NDCG@10\nA,0,0.1\nB,0,0.2\n", columns={"seed": "i_split"}),
    "a model with two marks": document({"resolved_ids": ["a"], "unresolved_ids": ["b"]}, "org__my__m.run1.json"),
    "queries without a digit": document({f"{one}{two}": {"map": 0.5} for one in "abcdefghij" for two in "vwxyz"}, "bm25.json"),
    "trials of an objective": one("number,value,datetime_start,state\n0,0.1,t,COMPLETE\n1,0.3,t,COMPLETE\n2,0.2,t,COMPLETE\n", "EASE_trials.csv"),
    "a seed of RecBole that is a word": one(LOG.replace("7", "none") + "INFO  BPR(\nINFO test result: OrderedDict([('ndcg@10', 0.1)])\n", "a.log"),
    "RecBole's document beside its settings": document({"model": "EASE", "config": {"model": "BPR", "dataset": "x"}, "test_result": {"ndcg@10": 0.1}}),
    "four lines above": one("# one\n# two\n# three\nTable 1\nmodel;dataset;NDCG@10\nEASE;d1;0.3\nPop;d1;0.1\n"),
    "HELM of a model with marks": several({"mmlu:subject=law,model=org_my_model/stats.json": json.dumps(HELM_STATS[:2])}),
    "ranx's lists with whole scores": document({f"u{i}": {"a": 1, "b": 0.5} for i in range(5)}),
    "RecTools in shares up to 1": one("model,i_split,NDCG@10,CatalogCoverage@10\nA,0,0.5,0.25\nA,1,0.4,1\n"),
    "TabArena with folds and seeds": one("model,task,seed,fold,metric_error\nRF,adult,1,0,0.1\nRF,adult,1,1,0.2\n"),
    "a journal of one direction": one(lines({"op_code": 0, "study_name": "EASE_ml-1m", "directions": [1]},
                                            {"op_code": 4, "study_id": 0, "state": 1, "values": [0.5]}, {"op_code": 4, "study_id": 0, "state": 1, "values": [0.25]}), "journal.log"),
    "an ordered dictionary with a triple": one("OrderedDict([('EASE', {'ndcg@10': 0.3}), ('Pop', {'ndcg@10': 0.1}), ('x', 1, 2)])", "films.txt"),
    "a name with a quotation mark, printed": one("{'EASE\\'s }': {'ndcg@10': 0.3, 'hr@10': 0.5}, 'Pop': {'ndcg@10': 0.1, 'hr@10': 0.2}}", "films.txt"),
    "a result of RecBole without end": one('{"model": "BPR", "dataset": "x", "test_result": {"ndcg@10": 0.1, "mrr@10": 1e999}}', "a.json"),
    "tuples in Markdown": one("| model | ('d1', 'NDCG@10') | ('d2', 'NDCG@10') |\n|--|--|--|\n| EASE | 0.3 | 0.4 |\n| Pop | 0.1 | 0.2 |\n", "films.md"),
    "a word for what stands across, over metrics": one("model,EASE,ItemKNN\nNDCG@10,0.3,0.1\nHR@10,0.5,0.2\n"),
    "a dataset called like a metric, over metrics": one(",recall,recall\n,NDCG@10,HR@10\nEASE,0.3,0.5\nItemKNN,0.1,0.2\n"),
    "points between thousands": one('model;dataset;Time (s)\nEASE;d1;"0,5"\nPop;d1;1.234\nALS;d1;12.345.678\nMF;d1;1.234 ± 0,5\nFM;d1;7\n'),
    "gains in the lower level": one("dataset,NDCG@10,NDCG@10,NDCG@10\n,EASE,ItemKNN,Improv.\nx1,0.3,0.1,200%\nx2,0.4,0.2,100%\n"),
    "seeds that are all missing": one("model,dataset,seed,NDCG@10\nA,x,,0.1\nB,x,,0.2\n"),
    "two columns without a name": one("index,level_0,d1 NDCG@10,d2 NDCG@10\nfoo,linear,0.3,0.4\nbar,simple,0.1,0.2\n"),
    "panels of algorithms": tex("Dataset & NDCG@10 & HR@10 \\\\ \\multicolumn{3}{c}{EASE} \\\\ d1 & 0.3 & 0.5 \\\\ d2 & 0.1 & 0.2 \\\\ "
                                "\\multicolumn{3}{c}{Pop} \\\\ d1 & 0.4 & 0.6 \\\\ d2 & 0.2 & 0.3 \\\\"),
    "starred ends of lines in LaTeX": tex("Model & NDCG@10 & HR@10 \\\\* EASE & 0.3 & 0.5 \\\\*[2pt] Pop & 0.1 & 0.2 \\\\*"),
    "a cell of HTML that covers nothing": one("<table><tr><th colspan=0>Model</th><th rowspan=x>NDCG@10</th></tr><tr><td rowspan=0>EASE</td><td>0.3</td></tr><tr><td>Pop</td><td>0.1</td></tr></table>", "films.html"),
    "a mean and a deviation alone in JSON": document({"mean": 0.3, "std": 0.02}, "EASE.json"),
    "a note far below in a workbook": one(book(PLAIN_SHEET.replace("</sheetData>", '<row r="900"><c r="A900" t="inlineStr"><is><t>Note: made today</t></is></c></row></sheetData>')), "films.xlsx"),
    "Markdown without outer bars and without a corner": one(" | NDCG@10 | HR@10\n--- | --- | ---\nEASE | 0.3 | 0.5\nItemKNN | 0.1 | 0.2\n", "films.md"),
    "a gap beside values above 1": several({"a.csv": LONG + "A,x,ndcg@10,12\nB,x,ndcg@10,14\n", "b.csv": LONG + "A,y,ndcg@10,\nB,y,ndcg@10,\n"}),
    "documents that are numbers": several({"films/run_bm25.trec": "q1 Q0 007 1 9 bm25\nq1 Q0 7 2 8 bm25\n", "films/qrels.trec": "q1 0 7 1\n"}, folder=True),
    "a column that is mostly missing": one("model,dataset,NDCG@10,HR@10\nEASE,d1,0.3,0.5\nPop,d1,OOM,0.1\nALS,d1,-,0.2\nMF,d1,-,0.2\n"),
    "a column that is all missing": one("model,dataset,NDCG@10,HR@10\nEASE,d1,-,0.5\nPop,d1,OOM,0.1\n"),
    "statistics without a mean": document([{"name": {"name": "f1", "split": "test"}, "count": 3}], "stats.json"),
    "a median beside metrics": one("model,dataset,NDCG@10,median,count\nEASE,d1,0.3,0.4,5\nPop,d1,0.1,0.2,5\n"),
    "deviations in the cells beside an interval": one("model,dataset,metric,value,lower,upper\nEASE,d1,NDCG@10,0.3±0.02,0.1,0.5\nPop,d1,NDCG@10,0.1±0.01,0,0.2\n"),
    "runs beside metrics": one("model,dataset,NDCG@10,runs\nEASE,d1,0.3,5\nPop,d1,0.1,3\n"),
    "a study of a dataset with a general word": one(lines({"op_code": 0, "study_name": "EASE_all_beauty", "directions": [2]},
                                                          {"op_code": 4, "study_id": 0, "state": 1, "values": [0.5]}), "journal.log"),
    "a trial without a number in a journal": one(lines({"op_code": 0, "study_name": "ALS@yelp", "directions": [2]}, {"op_code": 4, "study_id": 0, "state": 1, "values": [0.5]},
                                                       {"op_code": 6, "state": 1, "values": [0.9]}), "journal.log"),
    "index of pandas over nested records": document({"0": {"model": "EASE", "metrics": {"ndcg@10": 0.3}}, "1": {"model": "Pop", "metrics": {"ndcg@10": 0.1}}}),
    "text between rows of HTML whose cells do not end": one("<table><tr><th>Model<th>NDCG@10</tr>x<tr><td>EASE<td>0.3</tr>y<tr><td>Pop<td>0.1</tr>z</table>", "films.html"),
    "as many lines above as a table of spaces has": one("Results\nof\ntoday\nmodel  NDCG@10  HR@10\nEASE   0.3      0.5\nPop    0.1      0.2\n", "films.txt"),
    "a gap before two values": several({"a.csv": LONG + "A,x,ndcg@10,\nB,x,ndcg@10,0.2\n", "b.csv": LONG + "A,x,ndcg@10,0.1\n", "c.csv": LONG + "A,x,ndcg@10,0.3\n"}),
    "a gap before two values, the first counts": several({"a.csv": LONG + "A,x,ndcg@10,\nB,x,ndcg@10,0.2\n", "b.csv": LONG + "A,x,ndcg@10,0.1\n", "c.csv": LONG + "A,x,ndcg@10,0.3\n"}, prefer="first"),
    "a gap before two values, that of the gap counts": several({"a.csv": LONG + "A,x,ndcg@10,\nB,x,ndcg@10,0.2\n", "b.csv": LONG + "A,x,ndcg@10,0.1\n", "c.csv": LONG + "A,x,ndcg@10,0.3\n"}, prefer="a.csv"),
    "panels of known algorithms beside a name that says nothing": tex("Setting & NDCG@10 & HR@10 \\\\ \\multicolumn{3}{c}{EASE} \\\\ warm & 0.3 & 0.5 \\\\ "
                                                                      "\\multicolumn{3}{c}{ItemKNN} \\\\ warm & 0.1 & 0.2 \\\\"),
    "HELM of a model and where it ran": several({"mmlu:model=org_m,subject=law,model_deployment=host_m/stats.json": json.dumps(HELM_STATS[:2])}),
    "samples of Every Eval Ever with ids and places": one(lines(
        *({"schema_version": "instance_level_eval_0.1", "evaluation_name": "t", "model_id": "m", "sample_id": f"s{i}", "sample_idx": i + 1,
           "evaluation": {"score": i / 4}} for i in range(2))), "x.jsonl"),
    "BARS with a blank behind a model that stands twice": one("Year,Publication,Model,Paper URL,NDCG@20\n2020,X,EASE ,u,0.2\n2021,Y,EASE,u,0.4\n2021,Y,Pop,u,0.1\n", "matching_yelp.csv"),
    "a text of a workbook with its reading": one(book(
        '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>model</t></is></c><c r="B1" t="inlineStr"><is><t>NDCG@10</t></is></c></row>'
        '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2"><v>0.3</v></c></row><row r="3"><c r="A3" t="s"><v>1</v></c><c r="B3"><v>0.1</v></c></row></sheetData>',
        shared='<si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si><si><r><t>大</t></r><r><t>阪</t></r><rPh sb="0" eb="2"><t>オオサカ</t></rPh></si>'), "films.xlsx"),
    "numbers as names of datasets": one("model,10,20\nEASE,0.3,0.4\nPop,0.1,0.2\n", wide=True, metric="ndcg"),
}  # fmt: skip


def lz4(content: bytes, *, packed: bool = False, flags: int = 0x40, checksum: bytes = b"") -> bytes:
    """A frame of LZ4 with one block."""
    size = len(content) | (0 if packed else 1 << 31)
    header = bytes([flags, 0x40]) + bytes(8 if flags & 8 else 0) + bytes(4 if flags & 1 else 0) + b"\0"
    return b"\x04\x22\x4d\x18" + header + size.to_bytes(4, "little") + content + checksum + bytes(4)


# {"u": {"i": 0.5, "j": 0.25, "k": -3, "l": 300, "m": 70000}} with a float of each width, and whole numbers.
CBOR = b"\xa1\x61u\xa5\x61i\xf9\x38\x00\x61j\xfa\x3e\x80\x00\x00\x61k\x22\x61l\x19\x01\x2c\x61m\x1a\x00\x01\x11\x70"
ORDERED = b"\xa1\x61u\x98\x18" + b"\x61a" * 24  # a list of 24 items, its length in a byte of its own
# The same list, packed: five literals, then a copy of the last two bytes that overlaps itself, for 46 more.
PACKED = bytes([0x7F]) + ORDERED[:7] + bytes([2, 0, 46 - 4 - 15])
LONG_LITERAL = bytes([0xF0, len(CBOR) - 15]) + CBOR

SMALL_LISTS |= {
    name: ({f"{name}.lz4": content}, f"{name}.lz4")
    for name, content in {
        "numbers": lz4(CBOR), "with a checksum": lz4(CBOR, flags=0x50, checksum=b"sums"), "with a size": lz4(CBOR, flags=0x49),
        "twice": lz4(lz4(CBOR)), "an overlapping copy": lz4(PACKED, packed=True), "a long literal": lz4(LONG_LITERAL, packed=True),
        "a copy from before": lz4(bytes([0x10]) + b"\xa1" + bytes([9, 0]), packed=True), "bytes after": lz4(CBOR + b"\0"),
        "cut short": lz4(CBOR)[:-9], "a tag": lz4(b"\xc0\x01"), "deep": lz4(b"\x81" * 12 + b"\x01"),
        "text cut short": lz4(b"\xa1\x65u"), "truth values": lz4(b"\xa1\x61u\xa2\x61i\xf5\x61j\xf4"),
        "a long whole number": lz4(b"\xa1\x61u\xa1\x61i\x1b\x00\x00\x00\x01\x00\x00\x00\x00"),
    }.items()
}  # fmt: skip

SMALL_TABLES["lists of ranx, packed"] = one(lz4(CBOR), "run.lz4")


def parquet(frame: pl.DataFrame) -> bytes:
    """A frame as a file of Parquet."""
    stream = io.BytesIO()
    frame.write_parquet(stream)
    return stream.getvalue()


PARQUET = gzip.compress(parquet(pl.DataFrame({"dataset": ["x", "y"], "users": [10, 20]})), mtime=0)

SMALL_OTHERS: dict[str, tuple[Files, str, str]] = {
    "responses": ({"a.csv": "who,i1,i2,i3\nA,1,0,yes\nB,false,,correct\nC,1.0,Wrong,n/a\n"}, "a.csv", "responses"),
    "responses of numbers": ({"a.csv": "who,i1\nA,1\nB,2\n"}, "a.csv", "responses"),
    "responses of several numbers": ({"a.csv": "who,i1,i2\nA,1,7\nB,2,8\nC,3,9\n"}, "a.csv", "responses"),
    "responses without items": ({"a.csv": "who\nA\n"}, "a.csv", "responses"),
    "responses without a name": ({"a.csv": "who,i1\nA,1\n,0\n"}, "a.csv", "responses"),
    "responses without rows": ({"a.csv": "who,i1\n"}, "a.csv", "responses"),
    "items": ({"a.csv": "name,a,b,c\ni1,1.5,-0.5,0.2\ni2,0.5,1,0\n"}, "a.csv", "items"),
    "items by difficulty": ({"a.csv": "item,difficulty\ni1,-0.5\ni2,1\n"}, "a.csv", "items"),
    "items without difficulty": ({"a.csv": "item,guessing\ni1,0.1\n"}, "a.csv", "items"),
    "items without a name": ({"a.csv": "b\n0.1\n"}, "a.csv", "items"),
    "items without difficulty among many": ({"a.csv": "item," + ",".join(f"x{n}" for n in range(9)) + "\ni1" + ",1" * 9 + "\n"}, "a.csv", "items"),
    "an item twice": ({"a.csv": "item,b\ni1,0.1\ni1,0.2\n"}, "a.csv", "items"),
    "an item with two words": ({"a.csv": "item,b,c\ni1,0.1,0\ni2,hard,0\ni3,easy,x\n"}, "a.csv", "items"),
    "an item with a word": ({"a.csv": "item,b,c\ni1,0.1,0\ni2,hard,0\n"}, "a.csv", "items"),
    "characteristics": ({"a.csv": "Dataset,users,density,note\nx,10,0.5,good\ny,,nan,bad\nz,30,inf,\n"}, "a.csv", "properties"),
    "characteristics, first column": ({"a.csv": "name,users\nx,10\ny,20\n"}, "a.csv", "properties"),
    "characteristics with a word": ({"a.csv": "dataset,users\nx,10\ny,many\n"}, "a.csv", "properties"),
    "characteristics with two words": ({"a.csv": "dataset,users\nx,10\ny,many\nz,few\n"}, "a.csv", "properties"),
    "characteristics with an empty column": ({"a.csv": "dataset,users,more\nx,10,\ny,,\n"}, "a.csv", "properties"),
    "characteristics twice": ({"a.csv": "dataset,users\nx,10\nx,20\n"}, "a.csv", "properties"),
    "characteristics without a name": ({"a.csv": "dataset,users\nx,10\n,20\n"}, "a.csv", "properties"),
    "characteristics without numbers": ({"a.csv": "dataset,note\nx,good\ny,bad\n"}, "a.csv", "properties"),
    "characteristics of nothing": ({"a.csv": "dataset,users\n"}, "a.csv", "properties"),
    "instances": ({"f/d1.csv": "who,i1,i2\nRF,1,0\nmlp3,1,1\nrand1,0,0\noptimal,1,1\n", "f/d2.tsv": "who\ti1\nRF\t1\nSVM\t0\n",
                   "f/metadata.csv": "dataset,size\nd1,10\n", "f/_x.csv": "x\n", "f/notes.md": "x"}, "f", "instances"),
    "instances with roles": ({"f/d1.csv": "who,i1\nRF,1\nmlp3,1\n", "f/respondents.csv": "respondent,role\nmlp3,real\n"}, "f", "instances"),
    "a role that is none": ({"f/d1.csv": "who,i1\nRF,1\n", "f/respondents.csv": "respondent,role\nRF,hero\n"}, "f", "instances"),
    "roles of one column": ({"f/d1.csv": "who,i1\nRF,1\n", "f/respondents.csv": "respondent\nRF\n"}, "f", "instances"),
    "one dataset in two files": ({"f/d1.csv": "who,i1\nRF,1\n", "f/d1.tsv": "who\ti1\nRF\t1\n"}, "f", "instances"),
    "metadata of another dataset": ({"f/d1.csv": "who,i1\nRF,1\n", "f/metadata.csv": "dataset,size\nd1,10\nd9,3\n"}, "f", "instances"),
    "no instances": ({"f/notes.md": "x"}, "f", "instances"),
    "no folder of instances": ({"f/notes.md": "x"}, "g", "instances"),
    "choices": ({"a.csv": "model,dataset,metric,score,split,seed\nA,x,ndcg@10,0.1,loo,1\nB,x,ndcg@10,0.2,,2\n"}, "a.csv", "choices"),
    "choices by metric": ({"a.csv": "model,dataset,split,NDCG@10,HR@10\nA,x,loo,0.1,0.3\nB,x,loo,,0.4\n"}, "a.csv", "choices"),
    "choices without metrics": ({"a.csv": "model,dataset,split\nA,x,loo\n"}, "a.csv", "choices"),
    "choices with two models": ({"a.csv": "model,method,dataset,metric,value\nA,m,x,ndcg@10,1\n"}, "a.csv", "choices"),
    "choices of no table": ({"a.json": "{}"}, "a.json", "choices"),
    "choices of a folder": ({"a.csv/notes.md": "x"}, "a.csv", "choices"),
    "choices with a gap": ({"a.csv": "model,dataset,metric,value\nA,x,ndcg@10,0.1\n,x,ndcg@10,0.2\n"}, "a.csv", "choices"),
    "items with two columns of discrimination": ({"a.csv": "item,a,discrimination,b\ni1,2,3,-0.5\ni2,2,3,1\n"}, "a.csv", "items"),
    "characteristics in packed Parquet": ({"a.parquet.gz": PARQUET}, "a.parquet.gz", "properties"),
    "choices without end": ({"a.csv": "model,dataset,metric,value\nA,x,ndcg@10,inf\n"}, "a.csv", "choices"),
}  # fmt: skip
