"""Claims as abstracts write them, typed with their truth, on three small papers whose tables are printed here.

NovaRec leads everywhere, TidalRec in 6 of 8 comparisons, QuietRec nowhere. The truth was typed from the tables before
any program judged the sentences.
"""

from __future__ import annotations

F, N, C = "follows", "does not follow", "cannot be checked"

_TABLES = {
    "nova": (("Beauty", "Sports", "Toys"), ("Recall@10", "NDCG@10"), {
        "BPR": ".0300 .0150 .0200 .0100 .0310 .0160", "LightGCN": ".0350 .0180 .0240 .0120 .0340 .0180",
        "SASRec": ".0600 .0320 .0350 .0190 .0680 .0370", "BERT4Rec": ".0500 .0260 .0330 .0170 .0560 .0290",
        "NovaRec": ".0660 .0352 .0371 .0209 .0714 .0407"}),
    "tidal": (("ML-1M", "Yelp", "Gowalla", "Steam"), ("HR@10", "NDCG@10"), {
        "GRU4Rec": ".2100 .1100 .0400 .0200 .1500 .0800 .1000 .0500",
        "Caser": ".2200 .1150 .0450 .0220 .1550 .0850 .1100 .0550",
        "SASRec": ".2500 .1340 .0500 .0250 .1700 .0900 .1200 .0600",
        "TidalRec": ".2600 .1400 .0490 .0260 .1800 .0890 .1300 .0650"}),
    "quiet": (("Books", "Movies"), ("NDCG@20", "MRR"), {
        "EASE": ".1500 .2000 .3000 .4000", "MultVAE": ".1400 .1900 .2800 .3800",
        "QuietRec (ours)": ".1450 .1950 .2950 .4000"}),
}  # fmt: skip

CLAIMS = [("nova", text, truth) for text, truth in (
    ("NovaRec outperforms all baselines on all datasets.", F),
    ("Extensive experiments on three datasets show that NovaRec consistently outperforms state-of-the-art methods.", F),
    ("Our method achieves the best performance on all three datasets.", F),
    ("Experiments show that NovaRec achieves the best results in terms of NDCG@10.", F),
    ("NovaRec surpasses SASRec on every dataset.", F),
    ("NovaRec improves NDCG@10 by 10.0% over the best baseline.", F),
    ("Our model improves Recall@10 by 7.0% on average over the strongest baseline.", F),
    ("On average, NovaRec improves over the best baseline by 8.5%.", F),
    ("NovaRec outperforms the best baseline by up to 10.0%.", F),
    ("NovaRec gains 5.0% in Recall@10 on Toys over the strongest baseline.", F),
    ("NovaRec outperforms BERT4Rec by 12.4% in Recall@10 on Sports.", F),
    ("The proposed method improves on BERT4Rec by up to 40.3%.", F),
    ("SASRec outperforms BERT4Rec on all datasets.", F),
    ("BERT4Rec beats LightGCN on Beauty and Toys.", F),
    ("LightGCN outperforms BPR in all settings of our recommendation experiments.", F),
    ("NovaRec is better than LightGCN in terms of Recall@10.", F),
    ("Our approach exceeds all existing baselines by 5.0% to 10.0%.", F),
    ("NovaRec achieves state-of-the-art performance on Beauty, Sports and Toys datasets.", F),
    ("NovaRec improves NDCG@10 by 12.3% on average.", N),
    ("NovaRec outperforms the best baseline by up to 29.0%.", N),
    ("Our model improves Recall@10 by 10.0% on average over the strongest baseline.", N),
    ("BERT4Rec outperforms SASRec on Beauty.", N),
    ("BPR beats LightGCN on all datasets.", N),
    ("SASRec achieves the best NDCG@10 on Toys.", N),
    ("NovaRec outperforms SASRec by 32.0% in Recall@10 on Beauty.", N),
    ("LightGCN outperforms all baselines on Sports.", N),
    ("NovaRec improves Recall@10 on Sports by 16.0% over the best baseline.", N),
    ("NovaRec significantly outperforms SASRec on all datasets.", F),
    ("NovaRec outperforms all baselines on five datasets.", C),
    ("NovaRec outperforms S3-Rec by 8.0% on Beauty.", C),
    ("NovaRec improves MRR by 9.0% over the best baseline.", C),
    ("NovaRec improves Precision@5 over all baselines.", C),
    ("HyperRec outperforms all baselines on all datasets.", C),
    ("NovaRec achieves the best HR@50 on all datasets.", C),
    ("TIGER improves NDCG@10 by 10.0%.", C),
)] + [("tidal", text, truth) for text, truth in (
    ("TidalRec outperforms all baselines on most datasets.", F),
    ("TidalRec outperforms all baselines in most cases on four datasets.", F),
    ("TidalRec outperforms all baselines on ML-1M and Steam.", F),
    ("Our method achieves the best HR@10 on Gowalla.", F),
    ("TidalRec improves NDCG@10 on Yelp by 4.0% over the best baseline.", F),
    ("TidalRec surpasses GRU4Rec on all four datasets.", F),
    ("TidalRec beats Caser on every dataset and metric.", F),
    ("TidalRec outperforms the best baseline by up to 8.3%.", F),
    ("On average TidalRec improves over the strongest baseline by 4.0%.", F),
    ("TidalRec outperforms all baselines on 2 of 4 datasets.", F),
    ("TidalRec achieves the best performance on two of four datasets.", F),
    ("SASRec outperforms Caser on all datasets.", F),
    ("Our model achieves the highest NDCG@10 on ML-1M, Yelp and Steam.", F),
    ("TidalRec improves HR@10 by 8.3% on Steam compared with the baselines.", F),
    ("SASRec outperforms TidalRec in HR@10 on Yelp.", F),
    ("TidalRec outperforms all baselines on all datasets.", N),
    ("TidalRec consistently outperforms state-of-the-art methods on four datasets.", N),
    ("Our method achieves the best performance on all datasets.", N),
    ("TidalRec achieves the best NDCG@10 on Gowalla.", N),
    ("TidalRec beats SASRec on every dataset.", N),
    ("TidalRec outperforms all baselines on 3 of 4 datasets.", N),
    ("TidalRec outperforms SASRec on Yelp.", N),
    ("TidalRec improves over the best baseline by 12.0% on average.", N),
    ("TidalRec outperforms the best baseline by up to 15.2%.", N),
    ("TidalRec achieves the best HR@10 on Yelp.", N),
    ("Caser outperforms SASRec on Steam.", N),
    ("TidalRec improves HR@10 on Yelp by 4.0% over the best baseline.", N),
    ("The proposed model outperforms the existing methods in HR@10 on all datasets.", N),
    ("GRU4Rec achieves the best performance on ML-1M.", N),
    ("Our approach is superior to all competing methods in NDCG@10.", N),
    ("TidalRec significantly improves NDCG@10 over the baselines.", C),
    ("TidalRec outperforms all baselines on six datasets.", N),
    ("TidalRec improves MRR by 5.0%.", C),
    ("LightSANs outperforms all baselines.", C),
    ("TidalRec achieves the best AUC on all datasets.", C),
)] + [("quiet", text, truth) for text, truth in (
    ("EASE outperforms QuietRec on Books.", F),
    ("EASE achieves the best NDCG@20 on both datasets.", F),
    ("QuietRec outperforms MultVAE on all datasets.", F),
    ("Our method outperforms MultVAE by 3.6% in NDCG@20 on Books.", F),
    ("QuietRec improves MRR on Movies by 5.3% over MultVAE.", F),
    ("EASE beats MultVAE in terms of MRR and NDCG@20.", F),
    ("QuietRec is better than MultVAE in MRR by up to 5.3%.", F),
    ("EASE outperforms all other methods in NDCG@20.", F),
    ("QuietRec outperforms all baselines on all datasets.", N),
    ("Our method achieves the best performance on Movies.", N),
    ("Our method achieves the best MRR on both datasets.", N),
    ("QuietRec achieves state-of-the-art results on both datasets.", N),
    ("QuietRec beats EASE on Books.", N),
    ("QuietRec improves over EASE by 4.2% on average.", N),
    ("MultVAE outperforms EASE on Movies.", N),
    ("QuietRec outperforms EASE by 3.1% in NDCG@20.", N),
    ("Our model surpasses all existing methods in terms of MRR.", N),
    ("The proposed method improves NDCG@20 by 6.0% over the best baseline.", N),
    ("QuietRec outperforms MultVAE by 9.9% in MRR on Books.", N),
    ("MultVAE performs the best on Books in terms of NDCG@20.", N),
    ("QuietRec outperforms all baselines in NDCG@20 on Books.", N),
    ("Our approach outperforms all baselines on most datasets.", N),
    ("QuietRec significantly outperforms all baselines.", N),
    ("QuietRec achieves the best Recall@20 on all datasets.", C),
    ("QuietRec improves Precision by 3.0% over the best baseline.", C),
    ("SLIM outperforms all baselines on Books.", C),
    ("QuietRec significantly outperforms MultVAE on Books.", F),
    ("LightGCN++ improves NDCG@20 by 2.0%.", C),
    ("QuietRec improves HR@10 by 6.0% on average.", C),
    ("VQRec achieves the best performance on both datasets.", C),
)]  # fmt: skip


def papers_of_claims() -> dict[str, str]:
    """The three papers with the word ABSTRACT where a sentence goes."""
    made = {}
    for paper, (datasets, metrics, rows) in _TABLES.items():
        heads = " & ".join(rf"\multicolumn{{{len(metrics)}}}{{c}}{{{name}}}" for name in datasets)
        body = " \\\\\n".join(
            f"{name} & {' & '.join('0' + value for value in values.split())}" for name, values in rows.items()
        )
        width = len(datasets) * len(metrics)
        made[paper] = (
            r"\documentclass{article}\begin{document}\begin{abstract}ABSTRACT\end{abstract}"
            rf"\begin{{table}}\caption{{Overall performance.}}\begin{{tabular}}{{l{'c' * width}}}\toprule & {heads} \\ "
            rf"Method & {' & '.join(metrics * len(datasets))} \\ \midrule {body} \\ \bottomrule\end{{tabular}}"
            r"\end{table}\end{document}"
        )
    return made
