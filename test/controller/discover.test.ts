import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { endAll } from '../extension/running.ts';
import { type Config, control, startCalled, startLab } from './lab.ts';

afterEach(endAll);

const recorded = parse(readFileSync('test/fixtures/runtime-sdk/extensionconfig-not-discovered.yaml', 'utf8')) as Config;

/** A status without what differs between two clusters: times and addresses. */
function comparable(status: unknown): unknown {
  return JSON.parse(
    JSON.stringify(status)
      .replaceAll(/"lastTransitionTime":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"lastTransitionTime":"TIME"')
      .replaceAll(/localhost:\d+/g, 'localhost:PORT')
      .replaceAll(/dial tcp (127\.0\.0\.1|\[?::1\]?):\d+/g, 'dial tcp ADDRESS'),
  );
}

test('an extension is discovered, and a status is written as Cluster API writes it; when it fails, too', async () => {
  const lab = await startLab();
  const { spec, stop } = await startCalled();
  await lab.create('lab', spec);
  await control(lab, {}, { resyncMs: 300 });
  const discovered = await lab.condition('lab', 'Discovered', 'True');
  expect(comparable(discovered.status)).toEqual(
    comparable({
      ...recorded.status,
      conditions: [
        {
          ...recorded.status?.conditions?.[0],
          ...{ status: 'True', reason: 'Discovered', message: '' },
        },
        recorded.status?.conditions?.[1],
      ],
      deprecated: {
        v1beta1: {
          conditions: [{ type: 'Discovered', status: 'True', lastTransitionTime: '2026-11-21T11:11:41Z' }],
        },
      },
    }),
  );
  await stop({ graceMs: 0, timeoutMs: 100 });
  const failed = await lab.condition('lab', 'Discovered', 'False');
  expect(comparable(failed.status)).toEqual(comparable(recorded.status));
});
