export { type Merged, type MergeReport, mergeDocuments, type NamedDocument } from './merge.ts';
export { type DocumentPlace, documentList, InvalidOpenApi, openApiOf, readOpenApi } from './read.ts';
