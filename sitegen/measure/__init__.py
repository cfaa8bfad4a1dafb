"""Jobs → results on a GPU machine: correctness, timing, ceilings, compiler artefacts.

`python -m sitegen.measure JOB.json RESULT.json` is the only entry.  The parent process (jobs, process,
rounds, statistics) is pure standard library and never touches CUDA; the code under test runs in one
child process each (child, call, correctness, timing), so that a fault ends one child and nothing else.
The tools (inspect_job, sanitizer, counters, tool) watch one more program, under_tools.
"""
