import { readFileSync } from 'node:fs';
import type { JsonObject, JsonPatchOperation, Operation } from '../../../src/kubernetes/index.ts';

/** What Cluster API's own webhook made of one object. */
export interface RecordedCase {
  id: number;
  operation: Operation;
  object: JsonObject;
  oldObject: JsonObject | null;
  mutate: { allowed: boolean; patch: JsonPatchOperation[] };
  /** The input of its validating webhook. */
  validated: JsonObject;
  validate: { allowed: boolean; code: number; causes: { reason: string; field: string }[] };
}

/** The recorded cases. */
export const recordedCases = JSON.parse(
  readFileSync(new URL('../../support/fixtures/parity/extensionconfigs.json', import.meta.url), 'utf8'),
) as RecordedCase[];

/** The causes of a denial as sorted text, to compare two of them in any order. */
export function causesAsText(causes: readonly { reason?: string; field?: string }[]): string[] {
  return causes.map(({ reason, field }) => `${field} ${reason}`).sort();
}
