"""The engine: one rule a chapter, one for the site. `make book` calls it; so may `snakemake`.

An executed notebook carries the key of its run. While this file is read, a chapter whose key is no
longer that of the sources gets a new order under `_build/keys`, so Snakemake reruns just these.
"""

import sys

from signalbook import keys, lifeline
from signalbook.project import Project

lifeline.follow()
project = Project.find()
if workflow.is_main_process:  # jobs read this file too
    keys.prepare(project, config.get("profile", "fast"))

EXECUTED = [f"_build/executed/{name}.ipynb" for name in project.chapters]


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
        mem_mb=3000,
        runtime=60,
    shell:
        "{sys.executable:q} -m signalbook execute {wildcards.chapter}"


rule site:
    input:
        EXECUTED,
        "_build/keys/site.txt",
    output:
        "_build/site/.complete",
    shell:
        "{sys.executable:q} -m signalbook site"
