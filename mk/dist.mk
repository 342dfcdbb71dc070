# make dist-binary: a tarball for any x86-64 Linux of the last five years, from the last commit. As root; some minutes.
# make check-binary: it is unpacked and used in fresh trees.

.PHONY: dist-binary check-binary
dist-binary:
	$(Q)$(PACKAGES) deb
	$(Q)scripts/dist-binary.sh $(O) $(VERSION)

BINARY_SUITES ?= bullseye bookworm trixie
check-binary: dist-binary
	$(Q)tests/deb/test-binary.sh $(O) $(O)/mimic-$(VERSION)-x86_64.tar.gz $(BINARY_SUITES)

# The Containerfile, by buildah, in a tree of Debian. As root; ten minutes.
.PHONY: check-container
check-container:
	$(Q)$(PACKAGES) deb
	$(Q)mkdir -p $(O)
	$(Q)tests/deb/test-container.sh $(O)
