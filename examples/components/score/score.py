"""How often a word stands in each text."""

import argparse
import os


def init():
    global word
    parser = argparse.ArgumentParser()
    parser.add_argument("--word")
    word = parser.parse_args().word


def run(paths):
    rows = []
    for path in paths:
        with open(path, errors="replace") as text:
            rows.append("%s %d" % (os.path.basename(path), text.read().split().count(word)))
    return rows
