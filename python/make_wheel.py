# SPDX-License-Identifier: GPL-2.0 OR MIT
"""Makes the wheel of the Python package: make_wheel.py VERSION FOLDER, from the root of the tree. Needs nothing but Python.

The same bytes each time, from the same files.
"""
import base64
import glob
import hashlib
import os
import re
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: mimic
Version: %s
Summary: Emulated accelerators (MAPLE, DARE, Virgo) behind real Linux device interfaces
License: GPL-2.0 OR MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: test
Requires-Dist: pytest; extra == "test"

Python's way to the libraries that `make install` of mimic puts into a system. See docs/python.md of mimic.
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: mimic\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ENTRY_POINTS = "[pytest11]\nmimic = mimic.pytest_plugin\n"


def counter_names(device):
    """The list NAME_COUNTERS of the device's registers, in its order."""
    with open("include/mimic/%s_registers.h" % device, encoding="utf-8") as file:
        text = file.read()
    rows = re.search(r"#define %s_COUNTERS\(_\) \\\n((?:.*\\\n)*.*\n)" % device.upper(), text).group(1)
    names = re.findall(r'_\((\w+), "', rows)
    if not names:
        raise SystemExit("include/mimic/%s_registers.h: no counters" % device)
    return names


def counters():
    lines = ['"""Names of counters, from the devices\' lists of registers."""\n']
    for device in ("maple", "dare", "virgo"):
        lines.append("%s = (%s)\n" % (device.upper(), ", ".join('"%s"' % name for name in counter_names(device))))
    return "".join(lines)


def contents(version):
    files = {}
    for path in sorted(glob.glob("python/mimic/*.py")):
        with open(path, encoding="utf-8") as file:
            files["mimic/" + os.path.basename(path)] = file.read()
    information = "mimic-%s.dist-info/" % version
    files["mimic/_counters.py"] = counters()
    files["mimic/_version.py"] = '__version__ = "%s"\n' % version
    files[information + "METADATA"] = METADATA % version
    files[information + "WHEEL"] = WHEEL
    files[information + "entry_points.txt"] = ENTRY_POINTS
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(text.encode()))
    files[information + "RECORD"] = record + information + "RECORD,,\n"
    return files


def main():
    version, folder = sys.argv[1:]
    path = os.path.join(folder, "mimic-%s-py3-none-any.whl" % version)
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, text in contents(version).items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, text)
    print(path)


main()
