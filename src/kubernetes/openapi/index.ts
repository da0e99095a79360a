export { convertV2ToV3, InvalidOpenApi } from './convert-v2.ts';
export { type Merged, type MergeReport, mergeDocuments, type NamedDocument } from './merge.ts';
export type { OpenApiVersion } from './protobuf.ts';
export { PublishedDocument } from './published.ts';
export { type DocumentPlace, documentList, openApiOf, readOpenApi } from './read.ts';
