# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the arrows between rooms, the arrows inside a room, and no cycles."""
from tree import Finding

# Room -> the rooms it may include. gpusizer/ (the error type and the version) is open to all.
ROOMS = {
    "bench": {"workloads", "reports", "cloud", "ci"},
    "ci": {"reports", "cloud"},
    "reports": {"cloud"},
    "workloads": set(),
    "cloud": set(),
    "gpusizer": set(),
}

# Folder -> the folders of the same room it may include. Folders below count as the nearest one named here.
FOLDERS = {
    "workloads/program": set(),
    "workloads/models": {"workloads/program"},
    "workloads/transforms": {"workloads/program", "workloads/lowering"},
    "workloads/lowering": {"workloads/program"},
    "workloads/data": set(),
    # The registry of backends names every backend; a backend knows the contract beside the registry, no other backend.
    "workloads/backend": {"workloads/program", "workloads/lowering", "workloads/backend/*", "workloads/backend/communicator"},
    "workloads/backend/*": {"workloads/program", "workloads/lowering", "workloads/backend",
                            "workloads/backend/streams", "workloads/backend/communicator"},
    # What joins ranks knows nothing of programs; what runs communication beside computation serves every backend.
    "workloads/backend/communicator": set(),
    "workloads/backend/streams": {"workloads/program", "workloads/lowering", "workloads/backend/communicator"},
    "workloads/checkpoint": {"workloads/program", "workloads/lowering", "workloads/backend"},
    "reports/record": set(),
    "reports/sizing": {"reports/record", "reports/import"},
    "reports/render": {"reports/record", "reports/sizing"},
    "reports/import": {"reports/record"},
    "reports/published": {"reports/import"},
}
RULED_ROOMS = {folder.split("/")[0] for folder in FOLDERS}


def room_of(path):
    return path.split("/")[0] if "/" in path else ""


def ruled_folder_of(path):
    """Returns (folder as it is, folder as FOLDERS names it), or None when no rule covers the path."""
    parts = [part for part in path.split("/")[:-1] if part != "tests"][:3]
    if parts[:2] == ["workloads", "backend"]:
        folder = "/".join(parts)
        return folder, folder if folder in FOLDERS else "workloads/backend/*"
    folder = "/".join(parts[:2])
    return (folder, folder) if folder in FOLDERS else None


def _room_finding(file, line, target):
    room, other = room_of(file.path), room_of(target)
    if room not in ROOMS or other in {room, "gpusizer"} or other in ROOMS[room]:
        return None
    known = ", ".join(sorted(ROOMS[room])) or "no other room"
    return Finding(file.path, line, f"{room} includes {target}, but {room} may know {known}",
                   "hand the value in from bench, or move the code to the room that owns it")


def _folder_finding(file, line, target):
    if file.is_test or room_of(file.path) != room_of(target) or room_of(file.path) not in RULED_ROOMS:
        return None
    source, other = ruled_folder_of(file.path), ruled_folder_of(target)
    for path, ruled in ((file.path, source), (target, other)):
        if ruled is None:
            return Finding(file.path, line, f"{path} lies in a folder that no rule names",
                           "add the folder and what it may know to FOLDERS in ci/house/arrows.py")
    if source[0] == other[0] or other[1] in FOLDERS[source[1]]:
        return None
    known = ", ".join(sorted(FOLDERS[source[1]])) or "no other folder of its room"
    return Finding(file.path, line, f"{source[0]} includes {target}, but may know {known}",
                   "move the shared part down to a folder that both may know, or pass it as a value")


def _check_include(file, line, mark, target):
    if mark == "<":
        if room_of(target) in ROOMS:
            return Finding(file.path, line, f"<{target}> is ours", f'write #include "{target}"')
        return None
    if room_of(target) not in ROOMS or "/../" in target:
        return Finding(file.path, line, f'"{target}" is not a path from the root of the repository',
                       'write the whole path, as in "workloads/program/program.hpp"; outside headers go in <>')
    if target.startswith("bench/cli/") and not file.path.startswith("bench/cli/"):
        return Finding(file.path, line, f"{target} belongs to the command line, which nobody includes",
                       "move what you need out of bench/cli")
    return _room_finding(file, line, target) or _folder_finding(file, line, target)


def _find_cycle(edges):
    """Returns the nodes of one cycle in {node: {next node: ...}}, first node repeated at the end, or None."""
    done = set()
    for start in sorted(edges):
        trail, stack = [], [(start, iter(sorted(edges.get(start, ()))))]
        trail.append(start)
        while stack:
            node, following = stack[-1]
            step = next(following, None)
            if step is None:
                done.add(node)
                stack.pop()
                trail.pop()
            elif step in trail:
                return trail[trail.index(step):] + [step]
            elif step not in done:
                trail.append(step)
                stack.append((step, iter(sorted(edges.get(step, ())))))
    return None


def _cycle_finding(edges, what):
    cycle = _find_cycle(edges)
    if cycle is None:
        return []
    path, line = edges[cycle[0]][cycle[1]]
    return [Finding(path, line, f"{what} include each other in a circle: {' -> '.join(cycle)}",
                    "move what both need to a place of its own")]


def _related(one, other):
    # A folder and the folder above it may know each other: contract and registry above, entries below.
    return one == other or one.startswith(other + "/") or other.startswith(one + "/")


def check(files):
    files = [file for file in files if file.is_cpp and room_of(file.path) in ROOMS]
    findings, header_edges, folder_edges = [], {}, {}
    for file in files:
        for line, mark, target in file.includes():
            finding = _check_include(file, line, mark, target)
            if finding:
                findings.append(finding)
            if mark == '"' and not file.is_test and "/" in target:
                if file.suffix in {".hpp", ".cuh", ".h"}:
                    header_edges.setdefault(file.path, {}).setdefault(target, (file.path, line))
                folder = target.rsplit("/", 1)[0]
                if not _related(file.folder, folder):
                    folder_edges.setdefault(file.folder, {}).setdefault(folder, (file.path, line))
    return findings + _cycle_finding(header_edges, "headers") + _cycle_finding(folder_edges, "folders")
