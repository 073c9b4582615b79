// Package grant owns the authority rows that operations rest on: store identity, owner, root, goal,
// sources and their permissions. Every permission carries a revision that grows when it changes;
// guard compares revisions, this package never decides whether work may go on.
package grant
