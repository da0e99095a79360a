// Two libraries parse YAML. js-yaml reads manifests: it stops at the first error and at a depth, and a document of 4 MiB
// takes some 400 MiB at worst. yaml only edits them, since it keeps comments: it collects all errors and has no limits, so
// that 4 MiB of `]` exhaust the memory, and a list of letters takes 2 GiB and 11 seconds.
export { type PlacedObject, type ReadDocument, readDocument } from './document.ts';
export { editDocument } from './edit.ts';
export { EditError } from './edits.ts';
export { type ManifestFile, readDocuments, readManifests } from './read-manifests.ts';
export { createReplacer, ReplaceError } from './replace-file.ts';
export { showPlace } from './show-place.ts';
export { maxStreamBytes } from './sources.ts';
export { type DocumentText, splitDocuments } from './split.ts';
