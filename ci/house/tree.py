# SPDX-License-Identifier: Apache-2.0
"""The project's own text files as the house checks see them, and how a check reports what it found."""
import pathlib
import re
import subprocess
from dataclasses import dataclass

CPP = {".cpp", ".hpp", ".inc", ".cu", ".cuh", ".h", ".c", ".cc"}
TEXT = CPP | {".py", ".sh", ".cmake", ".txt", ".md", ".json", ".yml", ".yaml", ".in", ".supp"}
NOT_OURS = {".git", "build", "results", "__pycache__"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclass(frozen=True)
class Finding:
    """One fault: where it is, what is wrong and what to do about it."""

    path: str
    line: int
    problem: str
    remedy: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.problem}; {self.remedy}"


@dataclass(frozen=True)
class SourceFile:
    """One text file: its path from the root, with forward slashes, and its lines."""

    path: str
    lines: tuple

    @property
    def name(self):
        return self.path.rsplit("/", 1)[-1]

    @property
    def folder(self):
        return self.path.rsplit("/", 1)[0] if "/" in self.path else ""

    @property
    def suffix(self):
        return pathlib.PurePosixPath(self.path).suffix

    @property
    def is_cpp(self):
        return self.suffix in CPP

    @property
    def is_test(self):
        return "/tests/" in "/" + self.path

    @property
    def is_script(self):
        return self.suffix in {".sh", ".py"} or (bool(self.lines) and self.lines[0].startswith("#!"))

    @property
    def is_cmake(self):
        return self.suffix == ".cmake" or self.name == "CMakeLists.txt"

    def includes(self):
        """Yields (line number, "<" or '"', included path)."""
        for number, line in enumerate(self.lines, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)


def _paths_known_to_git(root):
    # What git ignores is not ours to judge; an unpacked archive has no git, then everything there counts.
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        return None
    return [path for path in listing.split("\0") if path]


def _paths_on_disk(root):
    return [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]


def read_tree(root):
    """Returns the text files below `root`, sorted by path."""
    root = pathlib.Path(root)
    listed = _paths_known_to_git(root)
    paths = _paths_on_disk(root) if listed is None else listed
    files = []
    for path in sorted(set(paths)):
        file = root / path
        if NOT_OURS & set(path.split("/")) or not file.is_file():
            continue
        if file.suffix not in TEXT and path != ".ci/run":
            continue
        files.append(SourceFile(path, tuple(file.read_text(errors="replace").splitlines())))
    return files
