from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path
from typing import get_type_hints

import pytest
from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML

from evalcore.conventions import Conventions
from evalcore.presets import PRESETS
from jobs.config import Aggregate, Config, ConventionChoices, Score, config_hash, dump
from jobs.config_file import load

CONF = Path(__file__).resolve().parents[2] / "conf"


def is_section(field):
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def sections(model: type[BaseModel]) -> list[type[BaseModel]]:
    below = [sections(field.annotation) for field in model.model_fields.values() if is_section(field)]
    return [model, *itertools.chain.from_iterable(below)]


def settings_of(model: type[BaseModel]):
    """The dotted name of every setting, in order."""
    for name, field in model.model_fields.items():
        if is_section(field):
            yield from (f"{name}.{below}" for below in settings_of(field.annotation))
        else:
            yield name


def dotted(settings):
    """The dotted name of every setting of a YAML file, in order."""
    for name, value in settings.items():
        if isinstance(value, dict) and value:
            yield from (f"{name}.{below}" for below in dotted(value))
        else:
            yield name


# the models


def test_convention_choices_are_the_fields_of_conventions_with_the_same_types():
    hints = get_type_hints(ConventionChoices)
    expected = {field.name: get_type_hints(Conventions)[field.name] | None for field in dataclasses.fields(Conventions)}
    assert {name: hints[name] for name in ConventionChoices.model_fields} == expected


def test_no_convention_is_chosen_unless_someone_chooses_it():
    assert set(dump(Config())["score"]["conventions"].values()) == {None}


@pytest.mark.parametrize("preset", PRESETS)
def test_without_choices_the_conventions_are_those_of_the_preset(preset):
    assert Score(preset=preset).resolved_conventions == PRESETS[preset].conventions


def test_a_choice_changes_its_own_convention_and_leaves_the_rest_to_the_preset():
    score = Score(preset="trec_eval", conventions=ConventionChoices(ties="input_order", depth=7))
    assert score.resolved_conventions == Conventions(
        score_precision="float32", unanswered="skip", ties="input_order", depth=7
    )


@pytest.mark.parametrize("section", sections(Config), ids=lambda section: section.__name__)
def test_every_section_and_setting_says_what_it_is(section):
    assert section.__doc__
    assert [name for name, field in section.model_fields.items() if not field.description] == []


def test_a_configuration_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Config().aggregate.seed = 1


def test_a_dump_survives_json_and_builds_the_same_configuration():
    config = Config(aggregate=Aggregate(unit="user_id", seed=3), score=Score(metrics=["AP"]))
    assert Config.model_validate(json.loads(json.dumps(dump(config)))) == config


def test_the_hash_is_a_sha256_that_does_not_depend_on_the_order_of_settings():
    one = load(None, overrides=["aggregate.seed=1", "spark.settings.a=2", "spark.settings.b=1"])
    other = load(None, overrides=["spark.settings.b=1", "spark.settings.a=2", "aggregate.seed=1"])
    assert config_hash(one) == config_hash(other)
    assert len(bytes.fromhex(config_hash(one))) == 32


def test_the_hash_changes_with_a_setting():
    assert config_hash(Config(aggregate=Aggregate(seed=1))) != config_hash(Config())


# the files in conf/


def test_base_yaml_holds_every_setting_at_its_default():
    path = CONF / "base.yaml"
    assert load(str(path)) == Config()
    written = YAML(typ="safe", pure=True).load(path)
    assert list(dotted(written)) == list(settings_of(Config))


def test_every_setting_of_base_yaml_has_a_comment_on_its_line():
    lines = (CONF / "base.yaml").read_text().splitlines()
    assert [line for line in lines if ":" in line.split("#")[0] and "# " not in line] == []


def test_demo_yaml_resamples_users_and_compares_with_production():
    config = load(str(CONF / "demo.yaml"))
    assert config.score.metrics == ["nDCG@10", "RR@10", "AP", "P@5", "Success@1"]
    assert (config.aggregate.unit, config.aggregate.baseline) == ("user_id", "production")
