from __future__ import annotations

from pathlib import Path

import pytest

from evalcore.conventions import Conventions
from evalcore.inference import INTERVALS
from evalcore.presets import PRESETS
from jobs.config import Aggregate, Config
from jobs.config_file import load
from jobs.errors import UsageError


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "nightly.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def problems(path=None, **sources):
    """The lines of the error that loading raises, without the folder of the file."""
    with pytest.raises(UsageError) as caught:
        load(path, **sources)
    folder = f"{Path(path).parent}/" if path else ""
    return [line.removeprefix(folder) for line in str(caught.value).splitlines()]


# sources and their order


def test_without_any_source_all_settings_have_their_defaults():
    assert load(None) == Config()


def test_a_later_source_wins_and_earlier_ones_keep_what_it_leaves_alone(write):
    path = write("aggregate: {seed: 1, replicates: 101, confidence: 0.5, name: file}\n")
    config = load(
        path,
        environment={
            "EVALJOB__AGGREGATE__SEED": "2",
            "EVALJOB__AGGREGATE__REPLICATES": "102",
            "EVALJOB__AGGREGATE__CONFIDENCE": "0.6",
        },
        overrides=["aggregate.seed=3", "aggregate.replicates=103"],
        flags={"aggregate.seed": 4},
    )
    assert config.aggregate == Aggregate(seed=4, replicates=103, confidence=0.6, name="file")


def test_the_last_of_two_overrides_of_one_setting_wins():
    assert load(None, overrides=["aggregate.seed=1", "aggregate.seed=2"]).aggregate.seed == 2


def test_a_flag_that_was_not_given_changes_nothing(write):
    assert load(write("output: {force: true}"), flags={"output.force": None}).output.force is True


def test_a_flag_that_is_false_is_given(write):
    assert load(write("output: {force: true}"), flags={"output.force": False}).output.force is False


def test_variables_without_the_prefix_are_none_of_ours():
    assert load(None, environment={"HOME": "/", "AGGREGATE__SEED": "3", "EVALJOB_HOME": "x"}) == Config()


@pytest.mark.parametrize(
    ("override", "section", "key", "value"),
    [
        ("score.metrics=[AP, P@5]", "score", "metrics", ["AP", "P@5"]),
        ("score.metrics=['nDCG(a=1,b=2)@10']", "score", "metrics", ["nDCG(a=1,b=2)@10"]),
        ("output.force=true", "output", "force", True),
        ("output.dir=no", "output", "dir", "no"),
        ("aggregate.name=2026-01-31", "aggregate", "name", "2026-01-31"),
        ("aggregate.baseline='7'", "aggregate", "baseline", "7"),
        ("aggregate.baseline=a=b", "aggregate", "baseline", "a=b"),
        ("aggregate.baseline=", "aggregate", "baseline", None),
        ("spark.master=local[*]", "spark", "master", "local[*]"),
    ],
)
def test_the_value_of_an_override_is_yaml(override, section, key, value):
    assert getattr(getattr(load(None, overrides=[override]), section), key) == value


def test_a_convention_can_be_set_from_every_source(write):
    path = write("score: {conventions: {ties: doc_id_asc}}")
    config = load(
        path,
        environment={"EVALJOB__SCORE__CONVENTIONS__UNJUDGED": "removed"},
        overrides=["score.conventions.depth=100"],
        flags={"score.conventions.no_relevant": "skip"},
    )
    assert config.score.resolved_conventions == Conventions(
        ties="doc_id_asc", unjudged="removed", depth=100, no_relevant="skip"
    )


def test_spark_settings_of_all_sources_add_up_and_keep_their_dots_and_types(write):
    config = load(
        write("spark:\n  settings:\n    spark.ui.enabled: false\n    spark.sql.shuffle.partitions: 7\n"),
        environment={"EVALJOB__SPARK__SETTINGS": "{spark.app.name: nightly}"},
        overrides=["spark.settings.spark.sql.shuffle.partitions=64"],
    )
    assert config.spark.settings == {
        "spark.ui.enabled": False,
        "spark.sql.shuffle.partitions": 64,
        "spark.app.name": "nightly",
    }
    assert config.spark.settings["spark.ui.enabled"] is False


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "aggregate:\n  # seed: 3\nscore:\n  conventions:\n", "---\n"])
def test_what_is_empty_or_commented_out_means_the_defaults(write, text):
    assert load(write(text)) == Config()


def test_a_byte_order_mark_is_ignored(write):
    assert load(write(b"\xef\xbb\xbfaggregate: {seed: 3}")).aggregate.seed == 3


# what is wrong, and where


def test_a_misspelt_setting_names_file_line_nearest_and_known_settings(write):
    assert problems(write("output:\n  force: true\naggregate:\n  confidance: 0.9\n")) == [
        'nightly.yaml line 4: aggregate has no setting "confidance". Did you mean "confidence"? '
        f"There are {len(Aggregate.model_fields)} known names."
    ]
    assert problems(write("output:\n  focre: true\n")) == [
        'nightly.yaml line 2: output has no setting "focre". Did you mean "force"? Known: dir, force.'
    ]


def test_a_misspelt_section_is_told_the_sections(write):
    assert problems(write("agregate: {}")) == [
        'nightly.yaml line 1: the configuration has no section "agregate". Did you mean "aggregate"? '
        "Known: aggregate, audit, demo, gate, inputs, judgments, output, prepare, queries, score, spark."
    ]


def test_a_misspelt_convention_is_told_the_conventions(write):
    (problem,) = problems(write("score:\n  conventions:\n    tie: doc_id_asc"))
    assert problem.startswith(
        'nightly.yaml line 3: score.conventions has no setting "tie". Did you mean "ties"? Known: depth, duplicates, '
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("aggregate: {replicates: 5}", "aggregate.replicates is 5; it should be greater than or equal to 99"),
        ("aggregate: {replicates: 1e4}", "aggregate.replicates is 10000.0; it should be a whole number"),
        ("aggregate: {confidence: 95}", "aggregate.confidence is 95; it should be less than 1"),
        ("aggregate: {confidence: 0}", "aggregate.confidence is 0; it should be greater than 0"),
        ("aggregate: {confidence: .nan}", "aggregate.confidence is NaN; it should be less than 1"),
        ("aggregate: {confidence: '0.9'}", 'aggregate.confidence is "0.9"; it should be a number'),
        ("aggregate: {seed: -1}", "aggregate.seed is -1; it should be greater than or equal to 0"),
        ("aggregate: {seed: true}", "aggregate.seed is true; it should be a whole number"),
        ("aggregate: {seed: }", "aggregate.seed is null; it should be a whole number"),
        ("aggregate: {methods: []}", "aggregate.methods is []; it should be a list of at least one"),
        (
            "aggregate: {methods: [t, halls]}",
            'aggregate.methods.1: unknown interval method "halls". Did you mean "hall"? Known: '
            + ", ".join(INTERVALS)
            + ".",
        ),
        ("aggregate: [seed]", 'aggregate is ["seed"]; it should be settings, each as name: value'),
        ("output: {force: no}", 'output.force is "no"; it should be true or false'),
        ("output: {dir: 7}", "output.dir is 7; it should be text (in quotes if it looks like something else)"),
        ("score: {metrics: AP}", 'score.metrics is "AP"; it should be a list, such as [a, b]'),
        ("score: {metrics: []}", "score.metrics is []; it should be a list of at least one"),
        ("score: {udf: numba}", "score.udf is \"numba\"; it should be 'auto', 'arrow' or 'pandas'"),
        (
            "score: {preset: treceval}",
            f'score.preset: unknown preset "treceval". Did you mean "trec_eval"? Known: {", ".join(PRESETS)}.',
        ),
        (
            "score: {conventions: {depth: 0}}",
            "score.conventions.depth is 0; it should be greater than or equal to 1 or 'auto'",
        ),
        (
            "spark: {settings: {a.b: 0.5}}",
            "spark.settings.a.b is 0.5; it should be text (in quotes if it looks like something else)"
            " or a whole number or true or false",
        ),
        ("demo: {queries: 0}", "demo.queries is 0; it should be greater than or equal to 1"),
        ("- aggregate", 'the configuration is ["aggregate"]; it should be settings, each as name: value'),
        ("aggregate", 'the configuration is "aggregate"; it should be settings, each as name: value'),
    ],
)
def test_a_wrong_value_is_told_with_its_line_what_it_is_and_what_it_should_be(write, text, problem):
    assert problems(write(f"# first line\n{text}\n")) == [f"nightly.yaml line 2: {problem}"]


def test_all_problems_of_all_sources_come_in_one_error_and_those_of_a_file_in_its_order(write):
    text = "output:\n  dri: x\nscore:\n  metrics:\n  - AP\n  - 5\naggregate:\n  seed: x\ninputs:\n  queries: 3\n"
    found = problems(write(text), environment={"EVALJOB__DEMO__DEPTH": "0"}, overrides=["aggregate.confidance=0.9"])
    assert [problem.split(": ")[0] for problem in found] == [
        "nightly.yaml line 2",
        "nightly.yaml line 6",
        "nightly.yaml line 8",
        "nightly.yaml line 10",
        "EVALJOB__DEMO__DEPTH",
        "--set aggregate.confidance=0.9",
    ]


def test_a_wrong_value_in_the_file_is_told_even_where_a_later_source_replaces_it(write):
    assert len(problems(write("aggregate: {seed: x}"), overrides=["aggregate.seed=3"])) == 1


def test_a_value_that_came_in_by_a_merge_key_is_placed_at_its_section(write):
    (problem,) = problems(write("output: {}\naggregate:\n  <<: {seed: x}\n"))
    assert problem.startswith("nightly.yaml line 2: aggregate.seed is ")


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        (
            {"overrides": ["aggregate.replicates=5"]},
            "--set aggregate.replicates=5: aggregate.replicates is 5; it should be greater than or equal to 99",
        ),
        ({"overrides": ["aggregate.seed"]}, "--set aggregate.seed: there is no value; write section.key=value"),
        (
            {"overrides": ["aggregate.seed.x=1"]},
            '--set aggregate.seed.x=1: aggregate.seed is {"x": 1}; it should be a whole number',
        ),
        (
            {"environment": {"EVALJOB__AGGREGATE__SEED": "x"}},
            'EVALJOB__AGGREGATE__SEED: aggregate.seed is "x"; it should be a whole number',
        ),
        (
            {"flags": {"aggregate.seed": -1}},
            "command line: aggregate.seed is -1; it should be greater than or equal to 0",
        ),
    ],
)
def test_a_problem_outside_the_file_names_its_place(sources, problem):
    assert problems(**sources) == [problem]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: [1\n", "nightly.yaml line 3: this is not valid YAML: "),
        ("aggregate:\n\tseed: 3\n", "nightly.yaml line 2: this is not valid YAML: found character '\\t'"),
        (
            "aggregate:\n  seed: 1\n  seed: 2\n",
            'nightly.yaml line 3: this is not valid YAML: found duplicate key "seed"',
        ),
        ("demo: {}\n---\nscore: {}\n", "nightly.yaml line 2: this is not valid YAML: but found another document"),
        ("demo: !x 3", "nightly.yaml line 1: this is not valid YAML: could not determine a constructor for the tag"),
        ("demo: !!int x", "nightly.yaml: this is not valid YAML: invalid literal"),
        ("demo: \x00", "nightly.yaml: this is not valid YAML: unacceptable character #x0000"),
        ("aggregate: {name: é}".encode("latin-1"), "nightly.yaml: byte 18 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_file_that_is_not_yaml_is_one_clear_line(write, text, problem):
    (found,) = problems(write(text))
    assert found.startswith(problem)


def test_an_override_that_is_not_yaml_names_itself():
    (found,) = problems(overrides=["score.metrics=[AP"])
    assert found.startswith("--set score.metrics=[AP line 1: this is not valid YAML: ")


def test_a_file_that_does_not_exist_is_a_usage_error(tmp_path):
    found = problems(str(tmp_path / "absent.yaml"))
    assert found == ["absent.yaml: the configuration cannot be read: No such file or directory"]


def test_a_directory_is_a_usage_error(tmp_path):
    (tmp_path / "conf").mkdir()
    assert problems(str(tmp_path / "conf")) == ["conf: the configuration cannot be read: Is a directory"]
