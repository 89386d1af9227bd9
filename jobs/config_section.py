"""What all sections of the configuration share."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, model_validator


class Section(BaseModel):
    """What all sections share: no unknown settings, no silent conversions, no changes once built."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_empty(cls, given: object) -> object:
        """A section whose settings are all commented out is null in YAML; it means the defaults."""
        return {} if given is None else given
