import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCertificates } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/keys.ts';
import { type ApiServer, mutatingPath } from '../../kubernetes/client/api-server.ts';
import { brokenMoments, expectSteady, type FakeClock, runFor, serverWithTargets } from './machine.ts';

let server: ApiServer;
let clock: FakeClock;

beforeEach(async () => {
  ({ server, clock } = await serverWithTargets());
});
afterEach(() => server.stop());

/** Loses the response to the n-th write, and all later requests, until the returned function is called. */
function killAt(writes: number): () => void {
  server.writes = 0;
  server.before = ({ number }) => (number > writes ? 'refuse' : 'apply');
  server.after = ({ number }) => (number === writes ? 'drop' : 'answer');
  return () => {
    server.before = () => 'apply';
    server.after = () => 'answer';
  };
}

/** The objects of before, a day later, but for one caBundle that has been reset; returns where their history begins. */
function restart(objects: ApiServer['objects']): number {
  server.objects.clear();
  for (const [path, object] of objects) {
    server.put(path, object);
  }
  clock.time += day;
  const from = server.history.length;
  server.put(mutatingPath, objects.get(mutatingPath)!);
  return from;
}

async function expectNextRunToFinish(from: number): Promise<void> {
  clock.time += 1000;
  const outcome = await runCertificates(runFor(server, clock));
  expect(outcome.action.kind).toBe('done');
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
}

test('after being killed at any write of a rotation, the next run ends steady', async () => {
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  const start = new Map(server.objects);
  let writes = 1;
  let finished = false;
  for (; !finished && writes < 60; writes++) {
    const from = restart(start);
    const revive = killAt(writes);
    const crashed = await runCertificates(runFor(server, clock, { forceCa: true, force: true })).catch(() => undefined);
    revive();
    finished = crashed !== undefined;
    await expectNextRunToFinish(from);
  }
  // A rotation with four targets has at least these writes: stage, bundle, record, 4 targets, promote, bundle, serving
  // certificate, retire, bundle, 4 targets.
  expect(writes).toBeGreaterThan(15);
  expect(finished).toBe(true);
});

test('a CA that was staged an hour ago, by a run that was killed, waits from when targets got it, also if that run is killed too', async () => {
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  const start = new Map(server.objects);
  for (let writes = 1; writes < 12; writes++) {
    const from = restart(start);
    const revive = killAt(1);
    await runCertificates(runFor(server, clock, { forceCa: true })).catch(() => undefined);
    revive();
    clock.time += 3_600_000;
    const reviveAgain = killAt(writes);
    await runCertificates(runFor(server, clock)).catch(() => undefined);
    reviveAgain();
    await expectNextRunToFinish(from);
  }
});
