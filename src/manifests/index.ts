export { type DocumentError, type PlacedObject, type ReadDocument, readDocument } from './document.ts';
export { type Edit, EditError, editDocument, editsBetween } from './edit.ts';
export { createReplacer, ReplaceError } from './replace-file.ts';
export { showPlace } from './show-place.ts';
export { maxStreamBytes, type Source, SourceError, sourcesOf, systemProblem, type Unreadable } from './sources.ts';
export { type DocumentText, type SplitError, splitDocuments } from './split.ts';
