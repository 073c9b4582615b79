// Package provider is the border between the host and provider adapters: the handshake both sides
// must agree on, the message bounds, and the two services of a local model as one go-plugin plugin.
// The messages themselves are generated beside it from provider.proto.
//
// An adapter is a program whose main calls Serve. It is started without arguments and with no
// environment but the handshake's own variables, in a private working directory where its socket
// must stay; it owns no network and no credential. It may write diagnostics to standard error,
// which the host bounds and escapes.
//
// The package never starts a process and never dials: host/provider does.
package provider
