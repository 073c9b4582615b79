// Package badgertest measures the bare engine, so that benchmarks of other packages can name it as
// their peer in the same run without importing it.
package badgertest
