#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two small text corpora from Debian packages, as the plain text that `text:FILE` reads.

  extract_text.py wordnet FOLDER > glosses.txt   the 117,659 glosses of wordnet-base, one a line;
                                                 FOLDER holds data.noun and so on: /usr/share/wordnet
  extract_text.py bible FOLDER > bible.txt       the verses of bible-kjv-text, one a line, a blank line between
                                                 chapters; FOLDER holds bible.data: /usr/lib. The package bible-kjv
                                                 has the program that unpacks it, `bible` (or --program PATH).

Nothing needs to be installed: `apt-get download PACKAGE` and `dpkg -x PACKAGE.deb FOLDER` unpack a package anywhere.
"""
import argparse
import pathlib
import re
import subprocess
import sys


def glosses(folder):
    """Each line that is not of the licence ends in `| gloss`."""
    for part in ("noun", "verb", "adj", "adv"):
        with open(pathlib.Path(folder) / f"data.{part}", encoding="utf-8") as file:
            for line in file:
                if not line.startswith(" ") and " | " in line:
                    yield line.split(" | ", 1)[1].strip()


def verses(folder, program):
    """The program writes headings ("Genesis 1"), blank lines, and verses as "  1 In the beginning ..."."""
    command = [program, "-p", folder, "-l0", "Gen1:1-Rev22:21"]
    text = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    for line in text.splitlines():
        verse = re.match(r"\s+(\d+) (.*\S)", line)
        if verse:
            if verse[1] == "1":
                yield ""
            yield verse[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", choices=["wordnet", "bible"])
    parser.add_argument("folder")
    parser.add_argument("--program", default="bible")
    options = parser.parse_args()
    try:
        lines = list(glosses(options.folder) if options.corpus == "wordnet" else
                     verses(options.folder, options.program))
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"extract_text.py: {error}")
    if not lines:
        sys.exit(f"extract_text.py: no text found in {options.folder}")
    print("\n".join(lines).strip())


if __name__ == "__main__":
    main()
