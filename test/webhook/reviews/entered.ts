// Prints which functions of which files in src/ one review enters, as JSON: by V8's precise coverage, between two reviews on
// one connection. Rules are left out: the rule set has none, and what it parses for them is their own.
import { Session } from 'node:inspector/promises';
import { createRuleSet } from '../../../src/policy/index.ts';
import { admission, ruleSetOptions } from '../../policy/admission/policy.ts';
import { capturedCalls, keepAliveAgent, send, start, stopAll, validate } from '../../server/running.ts';

const call = capturedCalls.find(({ name }) => name === 'create-validate.json');
const { webhookPort } = await start({ admission: admission({ rules: createRuleSet(ruleSetOptions(), []) }) });
const agent = keepAliveAgent();
async function review(): Promise<void> {
  const { code, json } = await send(webhookPort, validate, JSON.stringify(call?.body), { agent });
  if (code !== 200 || json().response.allowed !== true) {
    throw new Error(`not allowed: ${code}`);
  }
}
await review();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await review();
const { result } = await session.post('Profiler.takePreciseCoverage');
session.disconnect();
agent.destroy();
await stopAll();

const source = new URL('../../../src/', import.meta.url).href;
const files = result
  .filter(({ url }) => url.startsWith(source) && !url.includes('/policy/rules/fields/'))
  .map(({ url, functions }) => [
    url.slice(source.length),
    functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => functionName || '(anonymous)'),
  ]);
process.stdout.write(JSON.stringify(Object.fromEntries(files.filter(([, functions]) => functions?.length))));
