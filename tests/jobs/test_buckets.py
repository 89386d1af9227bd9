from pyspark.sql import functions as F

from evalcore.inference.buckets import BUCKETS, fold
from jobs.unit_sums import unit_of


def test_spark_folds_units_into_the_same_buckets_as_evalcore(spark):
    ids = ["q1", "q2", "", "naïve", "a b/ü", *(f"user {i}" for i in range(200))]
    rows = spark.createDataFrame([(each,) for each in ids], "id string")
    found = rows.select("id", unit_of("id", buckets=F.lit(BUCKETS)).alias("bucket")).collect()
    assert {row.id: row.bucket for row in found} == dict(zip(ids, fold(ids).tolist(), strict=True))
