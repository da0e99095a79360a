import { Session } from 'node:inspector/promises';
import { expect, onTestFinished, test } from 'vitest';
import { admission } from '../../policy/admission/policy.ts';
import { capturedCalls, keepAliveAgent, send, start, stopAll, validate } from '../../server/running.ts';

const source = new URL('../../../src/', import.meta.url).href;

// By V8's precise coverage, between two reviews on one connection. Rules run, and are left out; what they call of other
// modules counts.
test('a review enters at most twelve files, rules left out', async () => {
  const call = capturedCalls.find(({ name }) => name === 'create-validate.json');
  const { webhookPort } = await start({ admission: admission() });
  onTestFinished(stopAll);
  const agent = keepAliveAgent();
  onTestFinished(() => agent.destroy());
  async function review(): Promise<void> {
    const { code, json } = await send(webhookPort, validate, JSON.stringify(call?.body), { agent });
    expect([code, json().response.allowed]).toEqual([200, true]);
  }
  await review();
  const session = new Session();
  session.connect();
  onTestFinished(() => session.disconnect());
  await session.post('Profiler.enable');
  /** The files of this project that one more review enters, without rules and the names of secrets, which only a rule reads. */
  async function entered(): Promise<Set<string>> {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await review();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    const files = result
      .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
      .map(({ url }) => url)
      .filter((url) => url.startsWith(source) && !/\/(policy\/rules\/(definitions\/|fields)|base\/secrets\/)/.test(url))
      .map((url) => url.slice(source.length));
    return new Set(files);
  }
  // Timers of tests before, in the same process, are due in one of them.
  const [first, second, third] = [await entered(), await entered(), await entered()];
  const files = [...first].filter((file) => second.has(file) && third.has(file));
  expect(files).toContain('policy/admission/admission.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(12);
});
