export { ComposeError, firstValue } from './compose.ts';
export { type PlacedObject, type ReadDocument, readDocument } from './document.ts';
export { editDocument } from './edit.ts';
export { EditError } from './edits.ts';
export { type ManifestFile, readDocuments, readManifests } from './read-manifests.ts';
export { createReplacer, ReplaceError } from './replace-file.ts';
export { showPlace } from './show-place.ts';
export { type DocumentText, splitDocuments } from './split.ts';
