import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCertificates } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/entropy.ts';
import { type ApiServer, mutatingPath } from '../../kubernetes/client/api-server.ts';
import { brokenMoments, expectSteady, type FakeClock, runFor, serverWithTargets } from './machine.ts';

let server: ApiServer;
let clock: FakeClock;

beforeEach(async () => {
  ({ server, clock } = await serverWithTargets());
});
afterEach(() => server.stop());

test('after being killed at any write of a rotation, the next run ends steady', async () => {
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  const start = new Map(server.objects);
  let writes = 1;
  let finished = false;
  for (; !finished && writes < 60; writes++) {
    server.objects.clear();
    for (const [path, object] of start) {
      server.put(path, object);
    }
    clock.time += day;
    const from = server.history.length;
    server.put(mutatingPath, start.get(mutatingPath)!);
    server.writes = 0;
    // The response to the n-th write and all later requests are lost.
    server.before = ({ number }) => (number > writes ? 'refuse' : 'apply');
    server.after = ({ number }) => (number === writes ? 'drop' : 'answer');
    const crashed = await runCertificates(runFor(server, clock, { forceCa: true, force: true })).catch(() => undefined);
    server.before = () => 'apply';
    server.after = () => 'answer';
    finished = crashed !== undefined;
    clock.time += 1000;
    const outcome = await runCertificates(runFor(server, clock));
    expect(outcome.action.kind).toBe('done');
    expectSteady(server);
    expect(brokenMoments(server, from)).toEqual([]);
  }
  // A rotation with four targets has at least these writes: stage, bundle, 4 targets, record, promote, bundle, serving
  // certificate, retire, bundle, 4 targets.
  expect(writes).toBeGreaterThan(15);
  expect(finished).toBe(true);
});
