# C = A x B transposed, for A of 2 rows and B of 3 rows, 4 columns each; then the
# rows 2 and 0 of B, gathered. Run it: build/examples/dare/run examples/dare/product.s

.data a, 32
.fp32 1, 2, 3, 4
.fp32 0.5, 0, -1, 2
.data b, 48
.fp32 1, 0, 0, 0
.fp32 1, 1, 1, 1
.fp32 0, 2, 0, -2
.data c, 24
.data rows, 16
.address b+32, b
.data gathered, 32

	# matrixM = 2 rows, matrixK = 16 bytes, matrixN = 3
	li t0, 0
	li t1, 2
	mcfg t0, t1
	li t0, 1
	li t2, 16
	mcfg t0, t2
	li t0, 2
	li t3, 3
	mcfg t0, t3

	la a0, a
	li a1, 16		# bytes from a row to the next
	mld m1, (a0), a1

	# B has 3 rows: matrixM is 3 while it is loaded
	mcfg zero, t3
	la a0, b
	mld m2, (a0), a1
	mcfg zero, t1
	mma m0, m1, m2

	# Rows of C have 3 elements, 12 bytes.
	li t0, 1
	li t4, 12
	mcfg t0, t4
	la a0, c
	mst m0, (a0), t4
.print c fp32 2 3

	# Addresses of rows: 8 bytes each, in the first 8 bytes of a row of m3.
	li t4, 8
	mcfg t0, t4
	la a0, rows
	mld m3, (a0), t4
	mcfg t0, t2
	mgather m4, (m3)
	la a0, gathered
	mst m4, (a0), a1
.print gathered fp32 2 4
