//go:build unix

package workspace

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/writ-kernel/writ/abi/canon"
)

// receipt is what a reservation's bytes came to. On disk it is one line, "<sha256> <size>\n"; its
// form tells a torn one from a whole one.
type receipt struct {
	sha256 string
	size   int64
}

const maxReceipt = 2*32 + 1 + 19 + 1

func (r receipt) String() string { return fmt.Sprintf("%s %d\n", r.sha256, r.size) }

func parseReceipt(s string) (receipt, bool) {
	digest, number, ok := strings.Cut(strings.TrimSuffix(s, "\n"), " ")
	size, err := strconv.ParseInt(number, 10, 64)
	r := receipt{digest, size}
	return r, ok && err == nil && size >= 0 && canon.IsDigest(digest) && r.String() == s
}

// readReceipt reads a reservation's receipt. whole is false for a torn one.
func readReceipt(root *os.Root, id string) (r receipt, whole bool, err error) {
	f, _, err := openFile(root, receiptName(id))
	if err != nil {
		return receipt{}, false, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxReceipt+1))
	if err != nil {
		return receipt{}, false, fault("read receipt", err)
	}
	r, whole = parseReceipt(string(b))
	return r, whole, nil
}
