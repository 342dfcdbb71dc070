# Debian packages: make deb. They are made from the last commit, in a folder of their own.

DEB_REVISION ?= HEAD
DEB := $(O)/deb
.PHONY: deb packages-deb
packages-deb:
	$(Q)$(PACKAGES) build deb

deb: packages-deb
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)/mimic-$(VERSION)
	$(Q)git archive $(DEB_REVISION) | tar -x -C $(DEB)/mimic-$(VERSION)
	$(Q)tar -C $(DEB) --exclude=debian -czf $(DEB)/mimic_$(VERSION).orig.tar.gz mimic-$(VERSION)
	$(Q)cd $(DEB)/mimic-$(VERSION) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc -b >../build.log 2>&1 || \
		{ tail -n 40 ../build.log; exit 1; }
	@ls $(DEB)/*.deb

# As root: in trees of Debian's suites, which are made anew; some minutes, and 3 GB.
.PHONY: check-deb
DEB_RESULTS := $(O)/check-deb/results
check-deb: packages-deb
	$(Q)rm -rf $(dir $(DEB_RESULTS)) && mkdir -p $(dir $(DEB_RESULTS))
	$(Q)DEB_REVISION=$(DEB_REVISION) tests/scripts/run-tests.sh --results $(DEB_RESULTS) --jobs 1 --timeout 1800 \
		"tests/deb/test-deb.sh $(O) bookworm 6.1 6.12" \
		"tests/deb/test-deb.sh $(O) trixie 6.12 7"
	$(Q)tests/scripts/run-tests.sh --results $(DEB_RESULTS) --summary

# As a user of another Debian than this machine's begins: as root; some minutes.
.PHONY: check-suite packages-suite
packages-suite:
	$(Q)$(PACKAGES) suite

SUITE ?= trixie
check-suite: packages-suite
	$(Q)mkdir -p $(O)
	$(Q)DEB_REVISION=$(DEB_REVISION) tests/deb/test-suite.sh $(O) $(SUITE)
