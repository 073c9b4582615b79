// Package providertest is a priced far end for crash tests: a server over a real unix socket that
// counts what reaches it, and the adapter that carries requests to it.
//
// Model countingadapter/ is a local-model adapter whose answers come from outside its process, so
// that a test can kill the host at any moment and still prove, from the count, that no payload was
// sent twice. It is a fake far end for tests and no first-party plugin: no build ships it. An
// adapter has no argument and no environment, so the address travels as the request's model name.
//
// The server answers as its script says: honestly, with quotes that are wrong in known ways, late,
// cut, never, or with a charge that should not be. It keeps its counts over the host's crashes, and
// Close ends every call that still waits.
package providertest
