"""Average precision with every denominator, in the geometric mean, of grades, and at recall levels."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from evalcore.errors import MetricNameError
from evalcore.metrics import AP, GAP, GMAP, ElevenPointAP, Gain, IPrec, IPrecCurve, P, name, parse
from evalcore.metrics.base import HasElements
from tests.evalcore.test_other_programs import CASES, CONDENSED, TREC_EVAL
from tests.support.data import DATA, needs_data
from tests.support.families.average_precision import TENTHS, interpolated_precision
from tests.support.strategies import Query, batches, queries, random_batch, rankings_of, same_bits, seeded, value_of
from tests.support.trec import PRINTED, judged_rankings, printed_differences, read_expected, read_qrels, read_run

BATCH = random_batch(300, depth=40, seed=12)
NINE, TEN = "trec_eval9", "trec_eval10"


def test_the_denominators_agree_where_nothing_sets_them_apart():
    relevant = Query([1.0, 0.0, 1.0, None], [1.0, 1.0, 0.0])
    values = {value_of(AP(cutoff=4, denominator=each), relevant) for each in AP.DENOMINATORS}
    assert values == {(1 + 2 / 3) / 2}


@seeded(100)
@given(query=queries(), cutoff=st.integers(1, 8))
def test_a_smaller_denominator_gives_a_greater_value(query, cutoff):
    values = [value_of(AP(cutoff=cutoff, denominator=each), query) for each in ("R", "min(R,k)", "min(R,k,n)", "hits")]
    assert np.isnan(values).all() or values == sorted(values)


def test_the_geometric_mean_is_over_values_that_the_floor_has_raised():
    assert GMAP.FACTS.statistic == "geometric"
    values = GMAP().per_query(rankings_of([Query([1.0], [1.0]), Query([0.0], [1.0])]))
    assert float(np.exp(np.log(values).mean())) == pytest.approx(1e-5**0.5, rel=1e-14)


@pytest.mark.parametrize("floor", [0.0, -1.0, 1.0, float("nan")])
def test_a_floor_lies_between_0_and_1(floor):
    with pytest.raises(MetricNameError, match="it must be above 0 and below 1"):
        GMAP(floor=floor)


def test_graded_average_precision_of_binary_gains_is_average_precision():
    rankings = rankings_of(BATCH)
    for cutoff in (None, 3):
        graded = GAP(gain=Gain.parse("binary"), cutoff=cutoff).per_query(rankings)
        assert graded == pytest.approx(AP(cutoff=cutoff).per_query(rankings), abs=1e-15, nan_ok=True)


def test_graded_average_precision_reads_only_the_ratios_of_probabilities():
    rankings = rankings_of([Query([1.0, 3.0, 2.0, 0.0], [3.0, 2.0, 1.0])])
    tenths, wholes = Gain.parse("{1:0.1,2:0.4,3:1}"), Gain.parse("{1:1,2:4,3:10}")
    assert GAP(gain=tenths).per_query(rankings) == pytest.approx(GAP(gain=wholes).per_query(rankings), rel=1e-15)


def test_graded_average_precision_takes_any_number_of_different_grades():
    rng = np.random.default_rng(13)
    grades = rng.uniform(0, 5, size=(20, 30)).tolist()
    batch = [Query(row, row) for row in grades]
    together = GAP().per_query(rankings_of(batch))
    assert same_bits(together, [value_of(GAP(), query) for query in batch])
    best = [Query(sorted(row, reverse=True), row) for row in grades]
    assert GAP().per_query(rankings_of(best)) == pytest.approx(np.ones(20), abs=1e-15)


@seeded(100)
@given(batch=batches())
def test_the_curve_is_interpolated_precision_at_each_level(batch):
    rankings = rankings_of(batch)
    for curve in (IPrecCurve(), IPrecCurve(point=NINE, min_grade=2), IPrecCurve(point=TEN)):
        values = curve.per_query(rankings)
        assert values.shape == (len(batch), 11)
        for query, row in zip(batch, values, strict=True):
            expected = [interpolated_precision(curve, query.retrieved, query.judged, recall) for recall in TENTHS]
            assert row == pytest.approx(expected, abs=1e-15, nan_ok=True)
        mean = ElevenPointAP(point=curve.point, min_grade=curve.min_grade).per_query(rankings)
        assert mean == pytest.approx(values.mean(axis=1), abs=1e-15, nan_ok=True)


def test_the_curve_is_a_vector_that_names_its_recall_levels():
    assert isinstance(IPrecCurve(), HasElements)
    assert IPrecCurve().elements == ("0.0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0")


def test_a_curve_has_the_same_bits_alone_and_in_a_batch():
    values = IPrecCurve().per_query(rankings_of(BATCH))
    alone = [IPrecCurve().per_query(rankings_of([query]))[0] for query in BATCH]
    assert same_bits(values, np.array(alone))


@seeded(100)
@given(query=queries())
def test_the_curve_falls_and_begins_with_the_best_precision(query):
    curve = IPrecCurve().per_query(rankings_of([query]))[0]
    best = max((value_of(P(cutoff=k), query) for k in range(1, len(query.retrieved) + 1)), default=0.0)
    assert np.isnan(curve).all() or (curve[0] == best and (np.diff(curve) <= 0).all())


def test_a_recall_level_is_reached_in_spite_of_rounding():
    hundred = [1.0] * 7 + [0.0] * 20 + [1.0] * 93
    assert 0.07 * 100 > 7
    assert value_of(IPrec(recall=0.07), Query(hundred, hundred)) == 1


@pytest.mark.parametrize(
    ("spelled", "metric"),
    [
        ("IPrec@0.1", IPrec(recall=0.1)),
        ("IPrec@0", IPrec(recall=0)),
        ("IPrec@1", IPrec(recall=1)),
        ("IPrec(rel=2,point=trec_eval9)@0.25", IPrec(recall=0.25, point=NINE, min_grade=2)),
        ("iprec_at_recall_0.10", IPrec(recall=0.1)),
        ("iprec_at_recall.0.10", IPrec(recall=0.1)),
        ("iprec_at_recall_.25", IPrec(recall=0.25)),
        ("iprec_at_recall", IPrecCurve()),
        ("11ptAP", ElevenPointAP()),
        ("11pt_avg", ElevenPointAP()),
        ("gm_map", GMAP()),
        ("GAP(gain={1:0.2,2:1})@10", GAP(gain=Gain.parse("{1:0.2,2:1}"), cutoff=10)),
    ],
)
def test_names_are_read(spelled, metric):
    assert parse(spelled) == metric
    assert parse(name(metric)) == metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IPrec", "write a recall level from 0 to 1 behind @, like IPrec@0.1"),
        ("IPrec@1.5", "write a recall level from 0 to 1"),
        ("IPrec@-0.5", "write a recall level from 0 to 1"),
        ("IPrec(point=trec)@0.5", 'unknown point "trec"'),
        ("IPrec(recall=0.5)", 'no parameter "recall=0.5"'),
        ("IPrecCurve@0.5", "IPrecCurve takes no cutoff"),
        ("GAP(gain=signed)", "gain=signed can be negative"),
        ("GMAP(floor=0)", "floor is 0.0; it must be above 0"),
    ],
)
def test_a_wrong_name_says_what_would_be_right(text, message):
    with pytest.raises(MetricNameError, match=message):
        parse(text)


LEVELS = [f"iprec_at_recall_{tenth / 10:.2f}" for tenth in range(11)]


def at_point(point):
    """The metric with trec_eval's recall point, if it has one."""
    return lambda metric: replace(metric, point=point) if hasattr(metric, "point") else metric


@needs_data
@pytest.mark.parametrize(
    ("expected_of", "qrels", "run", "min_grade"),
    [
        *((*case, 1) for case in CASES),
        ("robust03.rutcor03100.l2", "robust03/qrels.robust03.txt", "robust03/input.rutcor03100.gz", 2),
        ("trec_eval.rel_level_l2", "trec_eval/qrels.rel_level", "trec_eval/results.test", 2),
        ("trec_eval.judged_only_J", "trec_eval/qrels.test", "trec_eval/results.test", 1),
    ],
)
def test_every_value_of_a_real_run_is_that_of_trec_eval(expected_of, qrels, run, min_grade):
    conventions = CONDENSED if expected_of.endswith("_J") else TREC_EVAL
    queries, rankings = judged_rankings(read_run(DATA / run), read_qrels(DATA / qrels), conventions)
    theirs = read_expected(DATA / "expected" / f"{expected_of}.perquery.csv.gz")
    for measure in (*LEVELS, "11pt_avg"):
        found = replace(at_point(NINE)(parse(measure)), min_grade=min_grade).per_query(rankings)
        expected = [theirs[measure][query] for query in queries]
        assert np.nan_to_num(found) == pytest.approx(expected, abs=1e-12, rel=0), measure
    logs = np.log(np.nan_to_num(GMAP(min_grade=min_grade).per_query(rankings), nan=1e-5))
    assert logs == pytest.approx([theirs["gm_map"][query] for query in queries], abs=1e-12, rel=1e-12)


@needs_data
@pytest.mark.parametrize("printed", PRINTED, ids=lambda printed: printed.path)
def test_what_trec_eval_prints_is_what_we_have(printed):
    wanted = "map|map_cut_.*|iprec_at_recall_.*|11pt_avg"
    differences = printed_differences(printed, wanted, change=at_point(NINE if printed.version == 9 else TEN))
    assert len(differences) >= 15
    assert np.abs(differences).max() <= 0.5e-4 + 1e-9


@needs_data
def test_the_geometric_mean_is_what_trec_eval_prints():
    qrels, run = read_qrels(DATA / "trec_eval/qrels.test"), read_run(DATA / "trec_eval/results.test")
    _, rankings = judged_rankings(run, qrels, TREC_EVAL)
    assert round(float(np.exp(np.log(GMAP().per_query(rankings)).mean())), 4) == 0.1051
