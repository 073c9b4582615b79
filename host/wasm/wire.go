package wasm

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/writ-kernel/writ/abi/wasm/lock"
)

// Between host and worker travels: four bytes of length, one byte of type, the payload. A payload is
// four bytes of length, that many bytes of JSON, and raw bytes. Numbers are little-endian.
const (
	frameHello  = 'H' // host: hello; sent first, unanswered
	frameModule = 'M' // host: moduleMeta, module bytes; answered by frameLoaded
	frameCall   = 'C' // host: callMeta, request frame; answered by frameAnswer
	frameLoaded = 'L' // worker: loadedMeta
	frameAnswer = 'A' // worker: answerMeta, log, output
)

const (
	maxMeta      = 64 << 10
	maxHostFrame = lock.MaxPlugin + maxMeta // what a worker accepts
)

type hello struct {
	CacheDir string `json:"cache_dir"`
}

type moduleMeta struct {
	SHA256 string `json:"sha256"`
}

type loadedMeta struct {
	Refused string `json:"refused"` // why the module may not run; empty when it may
	Engine  string `json:"engine"`
}

type callMeta struct {
	SHA256      string `json:"sha256"`
	MemoryBytes int64  `json:"memory_bytes"`
	OutputBytes int64  `json:"output_bytes"`
	LogBytes    int64  `json:"log_bytes"`
}

type answerMeta struct {
	Fault       FaultKind `json:"fault"` // FaultTrap, FaultOutput, FaultRefused or empty
	Detail      string    `json:"detail"`
	Run         int32     `json:"run"`
	PeakMemory  int64     `json:"peak_memory"`
	LogBytes    int       `json:"log_bytes"`
	OutputBytes int       `json:"output_bytes"`
}

var errFrame = errors.New("bad frame")

func writeFrame(w io.Writer, kind byte, meta any, parts ...[]byte) error {
	raw, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	size := 4 + len(raw)
	for _, p := range parts {
		size += len(p)
	}
	head := make([]byte, 9, 9+len(raw))
	binary.LittleEndian.PutUint32(head, uint32(size))
	head[4] = kind
	binary.LittleEndian.PutUint32(head[5:], uint32(len(raw)))
	bufs := append(net.Buffers{append(head, raw...)}, parts...)
	_, err = bufs.WriteTo(w)
	return err
}

// readFrame reads one frame of at most limit bytes, so that a length that lies costs nothing.
func readFrame(r io.Reader, limit int64) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.LittleEndian.Uint32(head[:])
	if int64(size) > limit {
		return 0, nil, fmt.Errorf("%w: %d bytes announced, at most %d", errFrame, size, limit)
	}
	payload = make([]byte, size)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, err
	}
	return head[4], payload, nil
}

func splitPayload(payload []byte, meta any) (rest []byte, err error) {
	if len(payload) < 4 {
		return nil, fmt.Errorf("%w: no meta", errFrame)
	}
	n := binary.LittleEndian.Uint32(payload)
	if payload = payload[4:]; uint64(n) > uint64(len(payload)) {
		return nil, fmt.Errorf("%w: meta is cut", errFrame)
	}
	if err := json.Unmarshal(payload[:n], meta); err != nil {
		return nil, fmt.Errorf("%w: %w", errFrame, err)
	}
	return payload[n:], nil
}

func unmarshalExact(payload []byte, meta any) error {
	rest, err := splitPayload(payload, meta)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: %d stray bytes", errFrame, len(rest))
	}
	return err
}
