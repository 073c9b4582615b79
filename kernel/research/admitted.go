package research

import (
	"path"
	"strings"

	"github.com/writ-kernel/writ/abi/canon"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/policies"
)

// Pin is a plugin that an admitted operation will run, by digest. An upgrade never changes it.
type Pin struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
}

// Pins are the plugins of one operation.
type Pins struct {
	TextReader     Pin `json:"text_reader"`
	MarkdownReader Pin `json:"markdown_reader"`
	Assembler      Pin `json:"assembler"`
	Model          Pin `json:"model"`
}

// Reader picks the reader for a source by its name.
func (p Pins) Reader(name string) Pin {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return p.MarkdownReader
	}
	return p.TextReader
}

// Admitted is everything resolved at admission; it is stored with a digest of its own.
type Admitted struct {
	Question     string             `json:"question"`
	Governing    policies.Governing `json:"governing"`
	Pins         Pins               `json:"pins"`
	Sources      []AdmittedSource   `json:"sources"` // distinct, in order of first use
	Slots        []AdmittedSlot     `json:"slots"`
	OutputTokens int                `json:"output_tokens"` // requested per call
	ChildSeconds int                `json:"child_seconds"`
	NoLearning   bool               `json:"no_learning"`
}

// AdmittedSource fixes one source's identity.
type AdmittedSource struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`
	Size       int64  `json:"size"`
	Lines      int    `json:"lines"`
	Normalizer string `json:"normalizer"`
	TextSHA256 string `json:"text_sha256"`
	MapSHA256  string `json:"map_sha256"`
}

// AdmittedSlot fixes one child: what it may read and its part of the allowance.
type AdmittedSlot struct {
	Slot        int         `json:"slot"` // from 1
	Perspective string      `json:"perspective"`
	Sources     []SourceUse `json:"sources"`
	Subset      int64       `json:"subset"` // b_i in micro-USD
}

// Source finds an admitted source.
func (a Admitted) Source(id string) AdmittedSource {
	for _, s := range a.Sources {
		if s.ID == id {
			return s
		}
	}
	return AdmittedSource{}
}

// DecodeAdmitted reads an operation's admitted record.
func DecodeAdmitted(op *storev1.Operation) (Admitted, error) {
	var a Admitted
	return a, canon.Unmarshal(op.Admitted, &a)
}

// bindings are the permissions that a set of uses relies on.
func bindings(uses []SourceUse) []*storev1.SourceBinding {
	var out []*storev1.SourceBinding
	for _, use := range uses {
		out = append(out, &storev1.SourceBinding{
			SourceId: use.SourceID, Sha256: use.SHA256, ReadRevision: use.ReadRevision, EgressRevision: use.EgressRevision,
		})
	}
	return out
}
