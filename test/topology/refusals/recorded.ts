import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';

/** A changed Cluster or ClusterClass, and what a kube-apiserver with Cluster API 1.14 answered. */
export interface RecordedWrite {
  kind: 'Cluster' | 'ClusterClass';
  operation: 'create' | 'update';
  change: string;
  spec: JsonObject;
  allowed: boolean;
  code?: number;
  reason?: string;
  message: string;
  causes?: { reason: string; message: string; field: string }[];
}

interface Recorded {
  templates: JsonObject[];
  class: JsonObject;
  cluster: JsonObject;
  cases: RecordedWrite[];
}

/** The writes, and the objects that were stored before them. Unpacked for whoever asks. */
export const recordedWrites = (): Recorded =>
  JSON.parse(
    gunzipSync(
      readFileSync(new URL('../../support/fixtures/cluster-api/refusals.json.gz', import.meta.url)),
    ).toString(),
  );

/** The object that was written, and the one that it replaced. */
export function writtenIn(recorded: Recorded, { kind, operation, spec }: RecordedWrite) {
  const stored = kind === 'Cluster' ? recorded.cluster : recorded.class;
  const isUpdate = operation === 'update';
  const metadata = isUpdate ? objectAt(stored, 'metadata') : { ...objectAt(stored, 'metadata'), name: 'made' };
  return { object: { ...stored, metadata, spec }, old: isUpdate ? stored : undefined };
}
