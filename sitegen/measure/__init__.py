"""Jobs → results on a GPU machine: correctness, timing, ceilings, compiled code.

`python -m sitegen.measure JOB.json RESULT.json` is the only entry.  The parent process (jobs, job_timing, rounds,
statistics, process) uses the standard library only and never touches CUDA.  The code under test runs in child
processes, one for each implementation, baseline and probe (child, evaluator, runnable, correctness, timing), so that a
fault ends one child and nothing else.  compute-sanitizer and ncu (inspect_job, sanitizer, counters, tool_runs) watch
one more program, tool_target.
"""
