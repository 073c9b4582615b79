// Package policies owns the bounds under which Writ works: the hard ceilings, the routes to models
// with their prices, the consents of the installation and the money limits.
//
// A policy is a value. It starts from Default, whose numbers are the hard ceilings of this build,
// and a YAML file can only narrow them. The package reads no file, no clock and no environment: the
// host hands it bytes.
//
// It must never widen a ceiling, fill in a value that a file got wrong, or let two spellings of the
// same policy differ in revision.
//
// Invariants:
//   - every number of a parsed policy lies between its documented minimum and its hard ceiling;
//   - an error names the field by its path in the file, for example research.source_bytes;
//   - Revision is a function of the resolved values alone; comments, key order and spelling out a
//     default change nothing;
//   - Governing holds all that may decide one operation under a route, and nothing else, so that an
//     edit elsewhere denies nothing.
package policies
