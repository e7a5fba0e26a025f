"""Links the data that a pointer file names as an output of this step.

A pointer file has one line: the place of the real data. The link is a line of JSON in the file that the variable
PINNACE_LINKS names; `pinnace data link OUTPUT PLACE` would write the same.
"""

import argparse
import json
import os
import sys
from pathlib import Path


def find_pointer_file(place: Path) -> Path:
    """The file itself, or the only one in a folder."""
    if place.is_file():
        return place
    files = sorted(path for path in place.rglob("*") if path.is_file())
    if len(files) != 1:
        sys.exit(f"{place}: one pointer file is wanted, and there are {len(files)}")
    return files[0]


def read_pointer(file: Path) -> str:
    """The only line that is not empty."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        sys.exit(f"{file}: a pointer is UTF-8 text")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        sys.exit(f"{file}: a pointer has one line, and this has {len(lines)}")
    if not lines[0].startswith("/") and "://" not in lines[0]:
        sys.exit(f"{file}: `{lines[0]}` is neither an absolute path nor a URL")
    return lines[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--intermediate_data_dir", type=Path, required=True)
    parser.add_argument("--output_port", required=True)
    arguments, _ = parser.parse_known_args()
    place = read_pointer(find_pointer_file(arguments.intermediate_data_dir))
    links = os.environ.get("PINNACE_LINKS")
    if links is None:
        sys.exit("this step has no link outputs: PINNACE_LINKS is not set")
    with open(links, "a", encoding="utf-8") as file:
        file.write(json.dumps({"output": arguments.output_port, "path": place}) + "\n")
    print(f"{arguments.output_port} is {place}")


if __name__ == "__main__":
    main()
