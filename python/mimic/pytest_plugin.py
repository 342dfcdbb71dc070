# SPDX-License-Identifier: GPL-2.0 OR MIT
"""The fixture mimic_daemon: a mimicd for each test that asks for it, which the test's programs and devices then use.

    def test_product(mimic_daemon):
        with mimic.Virgo() as virgo:        # of that daemon
            ...

    @pytest.mark.mimic(devices="maple:1")   # what the daemon has
    def test_one_device(mimic_daemon):
        subprocess.run(["./program"], check=True)
"""
import pytest

from .daemon import Daemon


def pytest_configure(config):
    config.addinivalue_line("markers", "mimic(devices, config): what the daemon of the fixture mimic_daemon has")


@pytest.fixture
def mimic_daemon(request, monkeypatch):
    marker = request.node.get_closest_marker("mimic")
    with Daemon(*(marker.args if marker else ()), **(marker.kwargs if marker else {})) as daemon:
        for name, value in daemon.environment.items():
            monkeypatch.setenv(name, value)
        yield daemon
