import { Session } from 'node:inspector/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createRuleSet } from '../../../src/policy/index.ts';
import { admission, ruleSetOptions } from '../../policy/admission/policy.ts';
import { capturedCalls, keepAliveAgent, send, start, stopAll, validate } from '../../server/running.ts';

const source = new URL('../../../src/', import.meta.url).href;

// By V8's precise coverage, between two reviews on one connection. Rules are left out: the rule set has none, and what it
// parses for them is their own.
test('a review enters at most twelve files, rules left out', async () => {
  const call = capturedCalls.find(({ name }) => name === 'create-validate.json');
  const { webhookPort } = await start({ admission: admission({ rules: createRuleSet(ruleSetOptions(), []) }) });
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
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await review();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  const files = result
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => url)
    .filter((url) => url.startsWith(source) && !url.includes('/policy/rules/fields/'))
    .map((url) => url.slice(source.length))
    // Timers of tests before, in the same process: the webhook has neither.
    .filter((file) => !/^(sandbox|extension)\//.test(file));
  expect(files).toContain('policy/admission/admission.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(12);
});
