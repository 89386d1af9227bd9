"""The two jobs and the audit, from configuration to published tables: the only place where stages meet."""

from jobs.pipeline.audits import audit
from jobs.pipeline.estimates import aggregate
from jobs.pipeline.scores import score

__all__ = ["aggregate", "audit", "score"]
