import { readFileSync } from 'node:fs';
import { aroundEach, test } from 'vitest';
import { checks } from '../../../src/checks/conformance/index.ts';
import { startSample } from '../../extension/sample/running.ts';
import { startExtension } from '../../runtimehooks/client/extension-server.ts';
import { ending, endWith } from '../../support/ends.ts';
import { complaints, tryExtension } from './trying.ts';

aroundEach(ending);

test.concurrent('the sample extension passes all checks', async ({ expect }) => {
  const report = await tryExtension((await startSample()).port);
  expect(complaints(report)).toEqual({});
  expect(report.verdict).toBe('passed');
  expect([report.called.length > 0, report.notCalled]).toEqual([true, []]);
  // No definitions were given, and nothing was recorded.
  expect(report.checks.flatMap(({ id, status }) => (status === 'skipped' ? [id] : []))).toEqual([
    'patches-valid',
    'patches-as-recorded',
  ]);
});

test.concurrent('without side effects, only hooks that answer questions are called', async ({ expect }) => {
  const { called, notCalled, verdict } = await tryExtension((await startSample()).port, {
    withSideEffects: false,
    checks: ['answers-calls'],
  });
  expect(called).toEqual([
    'generate-patches',
    'validate-topology',
    'discover-variables',
    'can-update-machine',
    'can-update-machineset',
    'generate-upgrade-plan',
  ]);
  expect(notCalled.map(({ name }) => name)).toContain('update-machine');
  expect(notCalled).toHaveLength(10);
  expect(verdict).toBe('passed');
});

interface RecordedAnswer {
  request: { method: string; path: string; body?: string };
  response: { status: number; headers: Record<string, string>; body: string };
}

const file = new URL('../../support/fixtures/runtime-sdk/server-answers.json', import.meta.url);
const recorded = JSON.parse(readFileSync(file, 'utf8')) as RecordedAnswer[];

test.concurrent('a server that replays Cluster API’s own test extension has one problem: it cannot process this request', async ({
  expect,
}) => {
  const discovery = recorded[0]!.response;
  const notJson = recorded.find(({ request }) => request.body === 'not json')!.response;
  const notFound = recorded.find(({ response }) => response.status === 404)!.response;
  const answers = new Map<string, string>();
  for (const { request, response } of recorded) {
    const [, , , hook = '', handler] = request.path.split('/');
    if (handler !== undefined && response.status === 200) {
      answers.set(`${hook}/${handler}`, response.body);
    }
  }
  const all = JSON.parse(discovery.body) as { handlers: { name: string; requestHook: { hook: string } }[] };
  const served = all.handlers.filter(({ name, requestHook }) =>
    answers.has(`${requestHook.hook.toLowerCase()}/${name}`),
  );
  expect(served.length).toBeGreaterThan(3);
  const offering = { ...discovery, body: JSON.stringify({ ...all, handlers: served }) };
  const isJson = (text: string) => {
    try {
      return JSON.parse(text) !== undefined;
    } catch {
      return false;
    }
  };
  const server = await startExtension(({ url, body }, response) => {
    const [, , , hook = '', handler] = url.split('?')[0]!.split('/');
    const answer = answers.get(`${hook}/${handler}`);
    // The plan is for one step from 1.30: the same recorded response to other requests would be wrong.
    const isOther = hook === 'generateupgradeplan' && !body.includes('"fromControlPlaneKubernetesVersion":"v1.30.0"');
    const sent =
      hook !== 'discovery' && answer === undefined
        ? notFound
        : !isJson(body)
          ? notJson
          : answer === undefined
            ? offering
            : { ...discovery, body: isOther ? '{"status":"Failure","message":"not recorded"}' : answer };
    response.writeHead(sent.status, { 'content-type': sent.headers['content-type'] });
    response.end(sent.body);
    return undefined;
  });
  endWith(() => server.close());
  const report = await tryExtension(server.port, { checks: checks.map(({ id }) => id) });
  expect(complaints(report)).toEqual({ 'answers-calls': 'failed' });
  expect(report.checks.find(({ id }) => id === 'answers-calls')?.problems).toEqual([
    { severity: 'error', handler: 'can-update-machine', message: "answers Failure: Object 'Kind' is missing in ''" },
    { severity: 'error', handler: 'generate-upgrade-plan', message: 'answers Failure: not recorded' },
  ]);
  expect(report.verdict).toBe('failed');
  // The names of everything that is sent describe it.
  const sent = server.received.map(({ body }) => body).filter((body) => body.includes('"metadata"'));
  expect(sent.length).toBeGreaterThan(10);
  expect(sent.filter((body) => !body.includes('conformance-sample'))).toEqual([]);
});
