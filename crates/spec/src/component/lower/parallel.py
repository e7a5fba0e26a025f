"""Shares the files of the inputs out to the tasks of a parallel component.

The files of all inputs are sorted and cut into batches; task RANK of WORLD_SIZE takes every WORLD_SIZE-th
batch. The entry script may define init(), called once, and must define run(paths), called for each batch.
What run() returns, one item for each file that worked, is appended to parallel_run_step.txt in the output,
a line for each item (a table without its header, if it is one). A call that raises or takes too long is
tried again. A file that failed is a line of a list that all tasks share; with --failures N every task fails once the list
has more than N files, and with --failed-batches N once it has more than N batches. -1 is any number.
"""

import argparse
import importlib.util
import json
import os
import signal
import sys
import traceback


def files_of(places):
    found = []
    for place in places:
        if os.path.isdir(place):
            for folder, folders, names in os.walk(place):
                folders.sort()
                found.extend(os.path.join(folder, name) for name in sorted(names))
        else:
            found.append(place)
    return found


def load(entry):
    sys.path.insert(0, os.path.dirname(os.path.abspath(entry)))
    spec = importlib.util.spec_from_file_location("entry_script", entry)
    module = importlib.util.module_from_spec(spec)
    sys.modules["entry_script"] = module
    spec.loader.exec_module(module)
    return module


def call(run, batch, seconds):
    def too_late(*_):
        raise TimeoutError("run() took more than %d seconds" % seconds)

    previous = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(seconds)
    try:
        return run(batch)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def rows_of(result):
    if result is None:
        raise TypeError("run() returned nothing; it must return an item for each file that worked")
    if hasattr(result, "to_csv"):
        return len(result), result.to_csv(header=False, index=False, sep=" ")
    rows = [str(item) for item in result]
    return len(rows), "".join(row + "\n" for row in rows)


def append(output, text):
    path = os.path.join(output, "parallel_run_step.txt") if os.path.isdir(output) else output
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


class Failures:
    """The list of all that failed, in whichever task of this attempt."""

    def __init__(self, folder, most_files, most_batches):
        self.limits = {"file": most_files, "batch": most_batches}
        self.path = None
        if folder:
            attempt = os.environ.get("FC_FRAMEWORK_ATTEMPT_ID", "0")
            self.path = os.path.join(folder, "failed-%s.txt" % attempt)
        self.own = ""

    def add(self, kind, what):
        text = "%s\t%s\n" % (kind, json.dumps(what))
        self.own += text
        if self.path:
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(handle, text.encode())
            finally:
                os.close(handle)

    def check(self):
        text = self.own
        if self.path and os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as lines:
                text = lines.read()
        lines = text.split("\n")
        for kind, most in self.limits.items():
            count = sum(line.startswith(kind + "\t") for line in lines)
            if 0 <= most < count:
                sys.exit("%d %s have failed, more than %d" % (count, "files" if kind == "file" else "batches", most))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entry", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--output")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--failures", type=int, default=-1)
    parser.add_argument("--failed-batches", type=int, default=-1)
    parser.add_argument("--count")
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:cut])
    sys.argv = [options.entry] + words[cut + 1 :]

    rank = int(os.environ.get("RANK", "0"))
    size = int(os.environ.get("WORLD_SIZE", "1"))
    paths = files_of(options.input)
    batches = [paths[at : at + options.batch] for at in range(0, len(paths), options.batch)]
    entry = load(options.entry)
    if hasattr(entry, "init"):
        entry.init()
    failures = Failures(options.count, options.failures, options.failed_batches)
    mine = batches[rank::size]
    if not mine:
        print("there is no batch for this task", flush=True)
    for number, batch in enumerate(mine):
        done, whole = 0, False
        for attempt in range(options.tries):
            try:
                done, text = rows_of(call(entry.run, batch, options.timeout))
                if options.output:
                    append(options.output, text)
                whole = True
                break
            except Exception:
                traceback.print_exc()
                last = attempt + 1 == options.tries
                print("batch failed%s: %s" % ("" if last else ", tried again", batch), file=sys.stderr)
        if not whole:
            failures.add("batch", batch)
        missing = max(0, len(batch) - done)
        # Which files failed only the entry script knows, unless it was all of them.
        for index in range(missing):
            failures.add("file", batch[index] if missing == len(batch) else {"one of": batch})
        print("batch %d of %d: %d of %d files" % (number + 1, len(mine), done, len(batch)), flush=True)
        failures.check()
    failures.check()
    if hasattr(entry, "shutdown"):
        entry.shutdown()


if __name__ == "__main__":
    main()
