import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Merged, mergeDocuments } from '../../../src/kubernetes/openapi/index.ts';

/** Merges copies of documents, which are named a, b, c and so on. */
export function merge(...documents: JsonObject[]): Promise<Merged> {
  const named = documents.map((document, index) => ({ name: String.fromCharCode(97 + index), document }));
  return mergeDocuments(structuredClone(named));
}
