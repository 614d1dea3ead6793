"""The engine: one rule a chapter, a point of a sweep, a record; and one for the site.

`make book`, `make sweep` and `make paper` on a cluster call it; so may `snakemake`.

An executed notebook carries the key of its run. While this file is read, a chapter whose key is no
longer that of the sources gets a new order under `_build/keys`, so Snakemake reruns just these.
"""

import sys

from signalbook import costs, keys, lifeline
from signalbook.files import read_json
from signalbook.project import Project

lifeline.follow()
project = Project.find()
# Jobs read this file too. Points and records are ordered by the commands that ask for them.
if workflow.is_main_process and config.get("goal", "book") == "book":
    keys.prepare(project, config.get("profile", "fast"))

EXECUTED = [f"_build/executed/{name}.ipynb" for name in project.chapters]


def need(name, least):
    """What an order asks of a cluster, or the least; a job that failed gets more the next time."""

    def asked(wildcards, input, attempt):
        order = read_json(project.root / input[0]) or {}
        return order.get("needs", {}).get(name, least) * (attempt if least else 1)

    return asked


# On a cluster the chapters are jobs; the pages are built where the command was given.
localrules:
    all,
    site,


# The notebooks are listed beside the site: with the site alone, a failed chapter's next run would
# find nothing to do.
rule all:
    input:
        EXECUTED,
        "_build/site/.complete",


rule chapter:
    input:
        "_build/keys/{chapter}.json",
    output:
        "_build/executed/{chapter}.ipynb",
    wildcard_constraints:
        chapter=r"[\w/-]+",
    resources:
        mem_mb=need("mem_mb", costs.MEMORY),
        runtime=need("runtime", costs.RUNTIME),
    shell:
        "{sys.executable:q} -m signalbook execute {wildcards.chapter}"


rule point:
    input:
        "_build/points/{chapter}/{point}/order.json",
    output:
        "_build/points/{chapter}/{point}/run.ipynb",
    wildcard_constraints:
        chapter=r"[\w/-]+",
        point="[0-9a-f]+",
    resources:
        mem_mb=need("mem_mb", costs.MEMORY),
        runtime=need("runtime", costs.RUNTIME),
        gpu=need("gpu", 0),
    shell:
        "{sys.executable:q} -m signalbook point {wildcards.chapter} {wildcards.point}"


rule record:
    input:
        "_build/recorded/{chapter}/order.json",
    output:
        "_build/recorded/{chapter}/done.json",
    wildcard_constraints:
        chapter=r"[\w/-]+",
    resources:
        mem_mb=need("mem_mb", costs.MEMORY),
        runtime=need("runtime", costs.RUNTIME),
        gpu=need("gpu", 0),
    shell:
        "{sys.executable:q} -m signalbook record {wildcards.chapter}"


rule site:
    input:
        EXECUTED,
        "_build/keys/site.txt",
    output:
        "_build/site/.complete",
    shell:
        "{sys.executable:q} -m signalbook site"
