"""Shares the files of the inputs out to the tasks of a parallel component.

The files of all inputs are sorted and cut into batches; task RANK of WORLD_SIZE takes every WORLD_SIZE-th
batch. The entry script may define init(), called once, and must define run(paths), called for each batch.
What run() returns, one item for each file that worked, is appended to parallel_run_step.txt in the output,
a line for each item (a table without its header, if it is one). A call that raises or takes too long is
tried again. With --failures N the task fails once more than N of its files have failed; -1 is any number.
"""

import argparse
import importlib.util
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entry", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--output")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--failures", type=int, default=-1)
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
    failed = 0
    mine = batches[rank::size]
    for number, batch in enumerate(mine):
        done = 0
        for attempt in range(options.tries):
            try:
                done, text = rows_of(call(entry.run, batch, options.timeout))
                if options.output:
                    append(options.output, text)
                break
            except Exception:
                traceback.print_exc()
                last = attempt + 1 == options.tries
                print("batch failed%s: %s" % ("" if last else ", tried again", batch), file=sys.stderr)
        failed += max(0, len(batch) - done)
        print("batch %d of %d: %d of %d files" % (number + 1, len(mine), done, len(batch)), flush=True)
        if 0 <= options.failures < failed:
            sys.exit("%d files have failed, more than %d" % (failed, options.failures))
    if hasattr(entry, "shutdown"):
        entry.shutdown()


if __name__ == "__main__":
    main()
