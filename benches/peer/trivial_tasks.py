"""Runs so many trivial tasks in one HyperQueue job: trivial_tasks.py TASKS SHELL."""
import os
import sys

from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig

count, shell = int(sys.argv[1]), sys.argv[2]
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=os.cpu_count()))
    client = cluster.client()
    job = Job()
    for _ in range(count):
        job.program([shell, "-c", "true"], stdout=None, stderr=None)
    client.wait_for_jobs([client.submit(job)])
