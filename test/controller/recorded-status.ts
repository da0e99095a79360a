import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Config } from './lab.ts';

/** An ExtensionConfig after a successful discovery and after a failed one, as Cluster API left it. */
export const recordedFailed = parse(
  readFileSync('test/support/fixtures/runtime-sdk/extensionconfig-not-discovered.yaml', 'utf8'),
) as Config;

/** Its status before the failed one, as Cluster API wrote it. */
export const recordedDiscovered = {
  ...recordedFailed.status,
  conditions: [
    { ...recordedFailed.status?.conditions?.[0], ...{ status: 'True', reason: 'Discovered', message: '' } },
    recordedFailed.status?.conditions?.[1],
  ],
  deprecated: {
    v1beta1: { conditions: [{ type: 'Discovered', status: 'True', lastTransitionTime: '2026-11-21T11:11:41Z' }] },
  },
};

/** A status without what differs between two clusters: times and addresses. */
export function comparable(status: unknown): unknown {
  return JSON.parse(
    JSON.stringify(status)
      .replaceAll(/"lastTransitionTime":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"lastTransitionTime":"TIME"')
      .replaceAll(/localhost:\d+/g, 'localhost:PORT')
      .replaceAll(/dial tcp (127\.0\.0\.1|\[?::1\]?):\d+/g, 'dial tcp ADDRESS'),
  );
}
