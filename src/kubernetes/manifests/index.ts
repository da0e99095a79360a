export { ComposeError, compose } from './compose.ts';
export { type PlacedObject, type ReadDocument, readDocument } from './document.ts';
export { EditError, editDocument } from './edit.ts';
export { plainValue } from './kubectl-schema.ts';
export { type ManifestFile, onlyValue, readDocuments, readManifests, showPlace } from './read-manifests.ts';
export { replaceFile } from './replace-file.ts';
export { type DocumentText, splitDocuments } from './split.ts';
