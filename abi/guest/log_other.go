//go:build !wasip1

package guest

// Log adds a line to the log that the host keeps with the call. The host cuts and escapes it.
// Outside a module there is no host and the line is dropped.
func Log(string) {}
