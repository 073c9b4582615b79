package workspace

import (
	"regexp"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
)

// Names that can stand in a path. Owners are policy names: none is hidden, and without upper case no
// two are one directory on a disk that folds case.
var (
	ownerPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	idPattern    = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$`)
	whyPattern   = regexp.MustCompile(`^[a-z][a-z_]{0,31}$`)
)

func checkOwner(owner string) error {
	if !ownerPattern.MatchString(owner) {
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, "owner", "%.80q does not match %s", owner, ownerPattern)
	}
	return nil
}

func checkID(id string) error {
	if !idPattern.MatchString(id) || canon.IsDigest(id) { // Quarantine takes either and must tell them apart
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, "id", "%.80q does not match %s", id, idPattern)
	}
	return nil
}

func checkDigest(sha256 string) error {
	if !canon.IsDigest(sha256) {
		return reason.Field(writv1.Reason_REASON_INVALID_INPUT, "sha256", "%.80q is not a SHA-256 in lower-case hex", sha256)
	}
	return nil
}

const (
	stagingDir    = "staging"
	quarantineDir = "quarantine"
)

func bytesName(id string) string   { return stagingDir + "/" + id + ".bytes" }
func receiptName(id string) string { return stagingDir + "/" + id + ".receipt" }
