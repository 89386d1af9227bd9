"""How often each interval holds the true value, by simulation with data whose true value is known.

laws         distributions of query values
datasets     data sets as columns of one UnitSums
samplers     what is drawn: queries, clusters, two systems, ratios, buckets
settings     SETTINGS: what is drawn, how many units, and which of them `auto` was chosen by
simulation   data sets -> coverage of every interval, with its Monte-Carlo error
reference    coverage that another program measured in the same settings
buckets      standard errors of buckets beside those of units
store        out/coverage.json: results as they come
tables       the tables of the page, and whether `auto` keeps its promise
page         docs/coverage.md
__main__     the command line
"""
