// Package artifact owns the rows about private files: the materialization reservation that is
// committed before a byte is written, and the artifact that is adopted after an independent
// readback. The files themselves are the host's; a file that no reservation names is never adopted.
package artifact
