"""How far evalcore's values are from those of other tools, query by query on real data: writes docs/parity.md.

    pip install -c deploy/constraints.txt -e '.[dev,bench]'
    python benchmarks/parity.py                   all tools that are installed; some minutes
    python benchmarks/parity.py --tools ranx      some of them, printed and not written

Every difference above 1e-9 is explained by an experiment: the data are changed in the way that a reason names, both
sides are computed again, and the reason holds if the difference is gone. A difference that no reason explains ends
the script with status 1.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests.support

from evalcore import evaluate
from evalcore.compat import mllib, ranx
from evalcore.compat.pytrec_eval import MEASURES, RelevanceEvaluator
from evalcore.ordering import rank_order
from evalcore.presets import preset
from tests.support.documented import DOCUMENTED

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]
Values = dict[str, dict[str, float]]
"""measure -> query -> value"""
SAME = 1e-9
PAGE = Path(__file__).parents[1] / "docs" / "parity.md"


# ---------------------------------------------------------------- data


@dataclass(frozen=True)
class Case:
    """One run with its judgments.  Every query is in both."""

    run: Run
    qrels: Qrels


def case(run: Run, qrels: Qrels) -> Case:
    """Without queries that are in one of them alone."""
    queries = [query for query in run if query in qrels and run[query]]
    return Case({query: run[query] for query in queries}, {query: qrels[query] for query in queries})


def lines(path: Path) -> list[list[str]]:
    """Of a file that may be compressed, split at spaces."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [line.split() for line in text.splitlines()]


def trec_qrels(path: Path) -> Qrels:
    """Lines of query, iteration, document, grade."""
    qrels: Qrels = {}
    for query, _, document, grade in lines(path):
        qrels.setdefault(query, {})[document] = int(grade)
    return qrels


def trec_run(path: Path) -> Run:
    """Lines of query, Q0, document, rank, score, tag."""
    run: Run = {}
    for query, _, document, _, score, *_ in lines(path):
        run.setdefault(query, {})[document] = float(score)
    return run


def lenskit(folder: Path) -> list[Case]:
    """One case for each algorithm; the rank is the score, because some scores are missing."""

    def rows(part: str) -> Iterator[dict[str, str]]:
        with (folder / f"topn-java-{part}.csv").open() as file:
            yield from csv.DictReader(file)

    qrels: Qrels = {}
    for row in rows("truth"):
        qrels.setdefault(row["user"], {})[row["item"]] = int(float(row["rating"]))
    runs: dict[str, Run] = {}
    for row in rows("recs"):
        runs.setdefault(row["Algorithm"], {}).setdefault(row["user"], {})[row["item"]] = -float(row["rank"])
    return [case(run, qrels) for run in runs.values()]


def ltr(folder: Path) -> list[Case]:
    """The sum of a document's features is its score, once as it is and once rounded so that many are tied."""
    rows = lines(folder / "rank.test")
    sizes = [int(size) for (size,) in lines(folder / "rank.test.query")]
    exact: Run = {}
    qrels: Qrels = {}
    for query, size in enumerate(sizes):
        for place in range(size):
            label, *features = rows.pop(0)
            total = math.fsum(float(feature.partition(":")[2]) for feature in features)
            exact.setdefault(f"{query}", {})[f"d{place:04}"] = total
            qrels.setdefault(f"{query}", {})[f"d{place:04}"] = int(label)
    rounded = {query: {doc: round(score / 20) for doc, score in scores.items()} for query, scores in exact.items()}
    return [case(exact, qrels), case(rounded, qrels)]


def datasets(data: Path) -> dict[str, list[Case]]:
    """Name -> cases."""
    robust, web = trec_qrels(data / "robust03/qrels.robust03.txt"), trec_qrels(data / "qrels/qrels.web.151-200.txt")
    cranfield, trec = (
        trec_qrels(data / "cranfield/qrels.cranfield.graded.txt"),
        trec_qrels(data / "trec_eval/qrels.test"),
    )

    def cases(pattern: str, qrels: Qrels) -> list[Case]:
        return [case(trec_run(path), qrels) for path in sorted(data.glob(pattern))]

    return {
        "robust03": cases("robust03/input.*.gz", robust),
        "web2012": cases("web2012/run.*.gz", web),
        "cranfield": cases("cranfield/run.*.gz", cranfield),
        "trec_eval": cases("trec_eval/results.t*", trec),
        "lenskit_topn": lenskit(data / "lenskit_topn"),
        "ltr": ltr(data / "ltr"),
    }


def returned_only(given: Case) -> Case:
    """With a label for each returned document and none for another, as tools that learn to rank have them."""
    labels = {
        query: {document: max(given.qrels[query].get(document, 0), 0) for document in scores}
        for query, scores in given.run.items()
    }
    return Case(given.run, labels)


# ---------------------------------------------------------------- reasons


def untied(given: Case) -> Case:
    """No scores are tied, and the order is that of trec_eval."""
    run = {}
    for query, scores in given.run.items():
        documents, values = np.array(list(scores), dtype=object), np.array(list(scores.values()))
        order = rank_order(values, np.array([0, len(values)]), doc_ids=documents)
        run[query] = {documents[index]: -float(rank) for rank, index in enumerate(order.tolist())}
    return Case(run, given.qrels)


def without_negative_grades(given: Case) -> Case:
    """Negative grades are 0."""
    return Case(given.run, {query: {d: max(g, 0) for d, g in judged.items()} for query, judged in given.qrels.items()})


REASONS: dict[str, Callable[[Case], Case]] = {
    "tied scores": untied,
    "negative grades": without_negative_grades,
    "tied scores and negative grades": lambda given: without_negative_grades(untied(given)),
}


# ---------------------------------------------------------------- tools


@dataclass(frozen=True)
class Tool:
    """Another program.

    package    whose version is named
    measures   what rows of the table are called
    theirs     (case, measures) -> values of the tool
    ours       likewise of evalcore
    prepared   what the tool can be given of a case
    about      what the table's readers must know
    """

    name: str
    package: str
    measures: Sequence[str]
    theirs: Callable[[Case, Sequence[str]], Values]
    ours: Callable[[Case, Sequence[str]], Values]
    about: str
    prepared: Callable[[Case], Case] = lambda given: given


def under(of: str, names: Mapping[str, str], **changed: str) -> Callable[[Case, Sequence[str]], Values]:
    """Values of evalcore under a preset; names: measure -> metric."""
    conventions = replace(preset(of).conventions, **changed)

    def values(given: Case, measures: Sequence[str]) -> Values:
        asked = [names[measure] for measure in measures]
        found = evaluate(given.run, given.qrels, asked, preset=of, conventions=conventions)
        columns = [found.counted(metric).tolist() for metric in found.metrics]
        return {
            measure: dict(zip(found.queries, column, strict=True))
            for measure, column in zip(measures, columns, strict=True)
        }

    return values


def by_measure(of_query: Mapping[str, Mapping[str, float]]) -> Values:
    """{query: {measure: value}} the other way round."""
    found: Values = {}
    for query, values in of_query.items():
        for measure, value in values.items():
            found.setdefault(measure, {})[query] = value
    return found


def of_pytrec_eval(given: Case, measures: Sequence[str]) -> Values:
    """By query, which `by_measure` turns round."""
    import pytrec_eval

    return by_measure(pytrec_eval.RelevanceEvaluator(given.qrels, set(measures)).evaluate(given.run))


def as_pytrec_eval(given: Case, measures: Sequence[str]) -> Values:
    """Likewise, of the stand-in."""
    return by_measure(RelevanceEvaluator(given.qrels, measures).evaluate(given.run))


IR_MEASURES = {
    **{each: each for each in ("AP", "AP@10", "P@10", "R@100", "RR", "RR@10", "nDCG", "nDCG@10", "Success@5", "Rprec")},
    **{each: each for each in ("Bpref", "infAP", "IPrec@0.1", "Judged@10", "NumRet", "NumRel", "ERR@20")},
    "SetP": "P",
    "SetR": "R",
    "SetF": "F",
    "SetAP": "SetAP",
    "NumRet(rel=1)": "NumRelRet",
    "nDCG(dcg='exp-log2')@20": "nDCG(gain=exp2)@20",
}
BY_GDEVAL = ("ERR@20", "nDCG(dcg='exp-log2')@20")


def of_ir_measures(given: Case, measures: Sequence[str]) -> Values:
    """Measure by measure, so that each goes to the program that ir_measures has for it."""
    import ir_measures

    found: Values = {}
    for measure in taken(given, measures):
        rows = ir_measures.iter_calc([ir_measures.parse_measure(measure)], given.qrels, given.run)
        found[measure] = {row.query_id: row.value for row in rows}
    return found


def taken(given: Case, measures: Sequence[str]) -> list[str]:
    """Without those of gdeval where it refuses a grade."""
    best = max(grade for judged in given.qrels.values() for grade in judged.values())
    return [measure for measure in measures if best <= 4 or measure not in BY_GDEVAL]


def as_ir_measures(given: Case, measures: Sequence[str]) -> Values:
    """Under the preset of the program that ir_measures has for a measure."""
    of = {measure: "gdeval" if measure in BY_GDEVAL else "ir_measures" for measure in taken(given, measures)}
    found: Values = {}
    for each in set(of.values()):
        asked = [measure for measure in of if of[measure] == each]
        found |= under(each, IR_MEASURES, no_relevant="zero")(given, asked)
    return found


RANX = [
    *("hits@10", "hit_rate@5", "precision@10", "recall@100", "f1@10", "r-precision", "mrr", "mrr@10", "map", "map@100"),
    *("dcg@10", "dcg_burges@10", "ndcg", "ndcg@10", "ndcg_burges@10", "ndcg-l2@10", "bpref", "rbp.80", "rbp.95"),
]


def of_ranx(given: Case, measures: Sequence[str]) -> Values:
    """Of compiled code."""
    import ranx as package

    asked = [measure.replace("-l2@10", "@10-l2") for measure in measures]
    qrels, run = package.Qrels(given.qrels), package.Run(given.run)
    found = package.evaluate(qrels, run, asked, return_mean=False)
    found = found if len(asked) > 1 else {asked[0]: found}
    queries = list(run.keys())
    return {
        measure: dict(zip(queries, found[each].tolist(), strict=True))
        for measure, each in zip(measures, asked, strict=True)
    }


def as_ranx(given: Case, measures: Sequence[str]) -> Values:
    """Of the stand-in."""
    asked = [measure.replace("-l2@10", "@10-l2") for measure in measures]
    kept = ranx.Run(given.run)
    ranx.evaluate(given.qrels, kept, asked)
    return {measure: kept.scores[each] for measure, each in zip(measures, asked, strict=True)}


SKLEARN = {"ndcg_score": "nDCG", "ndcg_score, k=10": "nDCG@10", "dcg_score": "DCG", "dcg_score, k=10": "DCG@10"}
SKLEARN |= {"roc_auc_score": "AUC"}


def of_sklearn(given: Case, measures: Sequence[str]) -> Values:
    """Query by query, in arrays."""
    from sklearn import metrics

    found: Values = {measure: {} for measure in measures}
    for query, scores in given.run.items():
        labels = np.array([given.qrels[query][document] for document in scores], dtype=float)
        values = np.array(list(scores.values()))
        for measure in measures:
            function, _, k = measure.partition(", k=")
            if len(scores) < 2 and function != "roc_auc_score":
                continue  # it refuses a single document
            if function == "roc_auc_score":
                found[measure][query] = float(metrics.roc_auc_score(labels > 0, values))
            else:
                settings = {"k": int(k)} if k else {}
                found[measure][query] = float(getattr(metrics, function)(labels[None], values[None], **settings))
    return found


LIGHTGBM = {
    f"{theirs}@{k}": f"{ours}@{k}" for theirs, ours in {"ndcg": "nDCG", "map": "AP"}.items() for k in (1, 5, 10)
}


def of_lightgbm(given: Case, measures: Sequence[str]) -> Values:
    """Of the metrics of a model without trees, whose scores are those it starts with."""
    import lightgbm

    settings = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 5, 10], "verbose": -1}
    found: Values = {measure: {} for measure in measures}
    for query, scores in given.run.items():
        labels = [given.qrels[query][document] for document in scores]
        columns = np.arange(len(labels), dtype=float)[:, None]
        data = lightgbm.Dataset(columns, label=labels, group=[len(labels)], init_score=list(scores.values()))
        values = {row[1]: row[2] for row in lightgbm.Booster(settings, data).eval_train()}
        for measure in measures:
            found[measure][query] = values[measure]
    return found


MLLIB = ["meanAveragePrecision", "meanAveragePrecisionAt(10)", "precisionAt(5)", "recallAt(20)", "ndcgAt(10)"]


def pairs(given: Case) -> list[tuple[list[str], list[str]]]:
    """(documents in order, relevant documents) of each query."""
    ordered = untied(given).run
    return [
        (list(scores), [document for document, grade in given.qrels[query].items() if grade >= 1])
        for query, scores in ordered.items()
    ]


def mean_of(metrics: object, measure: str) -> float:
    """A property, or a method with its k."""
    method, _, k = measure.rstrip(")").partition("(")
    found = getattr(metrics, method)
    return found(int(k)) if k else found


def of_mllib(given: Case, measures: Sequence[str]) -> Values:
    """In a local session."""
    from pyspark.mllib.evaluation import RankingMetrics

    from jobs.session import session

    spark = session(master="local[1]", app_name="evaljob parity")
    metrics = RankingMetrics(spark.sparkContext.parallelize(pairs(given), 1))
    return {measure: {"mean": mean_of(metrics, measure)} for measure in measures}


def as_mllib(given: Case, measures: Sequence[str]) -> Values:
    """Of the stand-in."""
    metrics = mllib.RankingMetrics(pairs(given))
    return {measure: {"mean": mean_of(metrics, measure)} for measure in measures}


TOOLS = [
    Tool(
        "pytrec_eval",
        "pytrec-eval-terrier",
        [measure for measure in MEASURES if measure not in ("runid", "relstring")],
        of_pytrec_eval,
        as_pytrec_eval,
        "Code of trec_eval 9.0.8, against `evalcore.compat.pytrec_eval`. A measure with cutoffs stands for all its "
        "usual ones. runid and relstring are no numbers.",
    ),
    Tool(
        "ir_measures",
        "ir-measures",
        list(IR_MEASURES),
        of_ir_measures,
        as_ir_measures,
        "Preset `ir_measures`; for ERR and nDCG with exponential gains, which ir_measures takes from gdeval, preset "
        "`gdeval`, whose values are rounded to five decimals on both sides. gdeval refuses the grade 5 of "
        "lenskit_topn. Accuracy is left out: it divides by 0 where nothing returned is not relevant.",
    ),
    Tool("ranx", "ranx", RANX, of_ranx, as_ranx, "Against `evalcore.compat.ranx`, preset `ranx`."),
    Tool(
        "scikit-learn",
        "scikit-learn",
        list(SKLEARN),
        of_sklearn,
        under("sklearn", SKLEARN),
        "Preset `sklearn`. Judgments are those of returned documents, unjudged ones with grade 0.",
        returned_only,
    ),
    Tool(
        "LightGBM",
        "lightgbm",
        list(LIGHTGBM),
        of_lightgbm,
        under("lightgbm", LIGHTGBM),
        "Preset `lightgbm`. Labels are those of returned documents, unjudged ones with label 0.",
        returned_only,
    ),
    Tool(
        "Spark MLlib",
        "pyspark",
        MLLIB,
        of_mllib,
        as_mllib,
        "Against `evalcore.compat.mllib`. RankingMetrics gives means alone, and takes documents already in order.",
    ),
]


# ---------------------------------------------------------------- comparison


@dataclass(frozen=True)
class Gap:
    """How far two sides are apart.

    largest      largest absolute difference, of values that both have
    n_undefined  values that are NaN in the tool alone
    n            values compared
    """

    largest: float
    n_undefined: int
    n: int

    @property
    def is_none(self) -> bool:
        return self.largest <= SAME


def gaps(tool: Tool, cases: Sequence[Case], measures: Sequence[str]) -> dict[str, Gap]:
    """By row of the table; rows that have no value are left out."""
    differences: dict[str, list[float]] = {}
    undefined: dict[str, int] = {}
    for given in cases:
        ready = tool.prepared(given)
        theirs, ours = tool.theirs(ready, measures), tool.ours(ready, measures)
        for measure, values in theirs.items():
            row = next(each for each in sorted(measures, key=len, reverse=True) if measure.startswith(each))
            for query, value in values.items():
                mine = ours[measure][query]
                if math.isnan(value):
                    undefined[row] = undefined.get(row, 0) + (not math.isnan(mine))
                else:
                    differences.setdefault(row, []).append(abs(value - mine) if not math.isnan(mine) else math.inf)
    return {row: Gap(max(found), undefined.get(row, 0), len(found)) for row, found in differences.items()}


def reason(tool: Tool, cases: Sequence[Case], measure: str) -> str | None:
    """The change of the data under which the difference is gone."""
    for name, change in REASONS.items():
        changed = [change(given) for given in cases]
        if gaps(tool, changed, [measure]).get(measure, Gap(0, 0, 0)).is_none:
            return name
    return None


def table(tool: Tool, data: Mapping[str, Sequence[Case]]) -> tuple[list[str], int]:
    """The rows of a tool, and how many differences have no reason."""
    found = {name: gaps(tool, cases, tool.measures) for name, cases in data.items()}
    rows = [f"| measure | {' | '.join(data)} | why they differ |", f"|---|{'---:|' * len(data)}---|"]
    unexplained = 0
    for measure in tool.measures:
        cells, reasons = [], {}
        for name, cases in data.items():
            gap = found[name].get(measure)
            cells.append("" if gap is None else "0" if gap.largest == 0 else f"{gap.largest:.0e}")
            if gap is not None and not gap.is_none:
                why = reason(tool, cases, measure)
                unexplained += why is None
                reasons.setdefault(why or "NOT EXPLAINED", []).append(name)
            if gap is not None and gap.n_undefined:
                reasons.setdefault(f"NaN there for {gap.n_undefined} of {gap.n_undefined + gap.n} values", []).append(
                    name
                )
        why = "; ".join(
            why if len(reasons) == 1 and len(names) > 1 else f"{why} ({', '.join(names)})"
            for why, names in reasons.items()
        )
        rows.append(f"| {measure} | {' | '.join(cells)} | {why} |")
        print(rows[-1], flush=True)
    return rows, unexplained


def documented() -> tuple[list[str], int]:
    """Rows for values that tools state, and how many are not met."""
    rows = ["| tool | measure | evalcore | stated | found | source |", "|---|---|---|---:|---:|---|"]
    missed = 0
    for each in DOCUMENTED:
        conventions = replace(preset(each.preset).conventions, **each.changed)
        found = evaluate(each.run, each.qrels, each.metric, preset=each.preset, conventions=conventions)
        (value,) = found.mean().values()
        missed += abs(value - each.value) > 10**-each.decimals
        rows.append(f"| {each.preset} | {each.measure} | {each.metric} | {each.value} | {value:.7f} | {each.source} |")
    return rows, missed


def installed(package: str) -> str | None:
    """The version, None without the package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def page(tools: Sequence[Tool], data: Mapping[str, Sequence[Case]]) -> tuple[str, int]:
    """The page, and how many differences have no reason."""
    unexplained = 0
    sizes = ", ".join(
        f"{name} ({len(cases)} runs, {sum(len(c.run) for c in cases):,} rankings)" for name, cases in data.items()
    )
    parts = [
        "# Parity with other tools",
        "Made by `python benchmarks/parity.py`; do not edit.",
        "A cell is the largest absolute difference between evalcore's values and the tool's, over every query of every "
        f"run of a data set: {sizes}. 0 is equality to the last bit; an empty cell, that the tool gives no value. "
        "The documents of ltr are ranked by the sum of their features, once as it is and once rounded so that many "
        "are tied.",
        "For every difference above 1e-9 there is a reason that the script has tried: with scores untied in "
        "trec_eval's order, or with negative grades raised to 0, both sides agree. What a preset cannot reproduce is "
        "in `evalcore.presets.PRESETS[name].limits`.",
        f"Python {python_version()}, numpy {version('numpy')}.",
    ]
    for tool in tools:
        found = installed(tool.package)
        parts.append(f"## {tool.name} {found or ''}".rstrip())
        if found is None:
            parts.append(f"Not installed when this page was made: `pip install {tool.package}`.")
            continue
        print(f"\n{tool.name} {found}", flush=True)
        rows, missing = table(tool, data)
        unexplained += missing
        parts += [tool.about, "\n".join(rows)]
    rows, missed = documented()
    parts += [
        "## Values that tools state",
        "For tools that are not run here: values of their documentation or their tests, under the tool's preset.",
        "\n".join(rows),
    ]
    return "\n\n".join(parts) + "\n", unexplained + missed


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of real data")
    parser.add_argument("--tools", nargs="*", help="compare these alone, and write no page")
    parser.add_argument("--sets", nargs="*", help="of these data sets alone, and write no page")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        print(f"there is no folder {arguments.data}; name another with --data", file=sys.stderr)
        return 2
    warnings.filterwarnings("ignore")  # what other tools warn of
    tools = [tool for tool in TOOLS if not arguments.tools or tool.name in arguments.tools]
    data = {n: c for n, c in datasets(arguments.data).items() if not arguments.sets or n in arguments.sets}
    text, unexplained = page(tools, data)
    if arguments.tools or arguments.sets:
        print(text)
    else:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    print(json.dumps({"unexplained": unexplained}))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
