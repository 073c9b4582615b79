package wasm

// Manifest is what a module says about itself in ManifestSection, and what manifest.json beside a
// plugin's main holds. It is vetted, never trusted.
type Manifest struct {
	ABI        string   `json:"abi"`
	Kind       string   `json:"kind"`
	MediaTypes []string `json:"media_types"`
	Name       string   `json:"name"`
	SDK        string   `json:"sdk"`
	Version    string   `json:"version"`
}

// Lock lists the plugins of one build. It lies as plugins.lock beside them, in canonical JSON, in
// order of kind, then name.
type Lock struct {
	ABI     string        `json:"abi"`
	Plugins []LockedEntry `json:"plugins"`
}

// LockedEntry pins one plugin file of a build.
type LockedEntry struct {
	File    string `json:"file"` // base name within the lock's folder
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	SHA256  string `json:"sha256"`
	Size    int64  `json:"size"`
	Version string `json:"version"`
}

// LockFile is the name of the lock beside the plugins.
const LockFile = "plugins.lock"
