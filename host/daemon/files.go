package daemon

import (
	"bytes"
	"path"

	writv1 "github.com/writ-kernel/writ/abi/api/writ/v1"
	"github.com/writ-kernel/writ/abi/canon"
	"github.com/writ-kernel/writ/abi/reason"
	"github.com/writ-kernel/writ/host/workspace"
)

// files carries one output through the workspace: stage, promote, read back.
type files struct {
	workspace *workspace.Workspace
}

// Write stores bytes under a promise and returns their digest once they were read back. What an
// earlier process left under the same promise is used when it is the same, kept under its own digest
// when it is complete, and removed when it is not.
func (f files) Write(owner, promise string, data []byte, limit int) (string, error) {
	if len(data) > limit {
		return "", reason.New(writv1.Reason_REASON_TOO_LARGE, "output %s has %d bytes, %d were promised", promise, len(data), limit)
	}
	digest := canon.Digest(data)
	found, err := f.workspace.Find(owner, promise)
	if err != nil {
		return "", err
	}
	if err := f.clear(owner, promise, found, digest); err != nil {
		return "", err
	}
	if found.SHA256 != digest {
		if _, _, err := f.workspace.Stage(owner, promise, int64(limit), bytes.NewReader(data)); err != nil {
			return "", err
		}
	}
	if err := f.workspace.Promote(owner, promise, digest); err != nil {
		return "", err
	}
	return digest, f.workspace.Verify(owner, digest, int64(len(data)))
}

// clear makes room for other bytes than those that stand under a promise.
func (f files) clear(owner, promise string, found workspace.Found, digest string) error {
	switch {
	case found.State == workspace.StateIncomplete:
		return f.workspace.RemoveStaging(owner, promise)
	case found.State == workspace.StateNone || found.SHA256 == digest:
		return nil
	}
	if err := f.workspace.Promote(owner, promise, found.SHA256); err != nil {
		return err
	}
	return f.workspace.Forget(owner, promise)
}

// Read returns verified bytes.
func (f files) Read(owner, sha256 string, limit int) ([]byte, error) {
	return f.workspace.Read(owner, sha256, int64(limit))
}

// Recover returns what an earlier process completed under a promise.
func (f files) Recover(owner, promise string, limit int) ([]byte, bool, error) {
	found, err := f.workspace.Find(owner, promise)
	if err != nil || found.State != workspace.StateComplete && found.State != workspace.StatePromoted {
		return nil, false, err
	}
	if err := f.workspace.Promote(owner, promise, found.SHA256); err != nil {
		return nil, false, err
	}
	data, err := f.workspace.Read(owner, found.SHA256, int64(limit))
	return data, err == nil, err
}

// Settled forgets the working name of a promise whose adoption is durable.
func (f files) Settled(owner, promise string) error { return f.workspace.Forget(owner, promise) }

// Path is where an artifact lies, relative to the data directory.
func (f files) Path(owner, sha256 string) string {
	return path.Join(artifactsDir, f.workspace.Path(owner, sha256))
}
