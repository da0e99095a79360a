import { readdirSync, readFileSync } from 'node:fs';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

const folder = new URL('../../support/fixtures/runtime-sdk/calls/', import.meta.url);

/** A call that Cluster API made, and the extension's response. */
export interface RecordedCall {
  file: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: JsonObject;
  answer: JsonObject;
}

/** The calls in one Cluster's life, as Cluster API made them. */
export const recordedCalls: readonly RecordedCall[] = readdirSync(folder)
  .sort()
  .map((file) => ({ file, ...JSON.parse(readFileSync(new URL(file, folder), 'utf8')) }) as RecordedCall);
