import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { recordedCalls } from '../../runtimehooks/messages/recorded.ts';
import { editTopology, makingEdits } from './recorded.ts';
import { fixture, played } from './rehearsing.ts';

/** The recorded response for a call: the first of its hook, then the second, and the last from then on. */
const answersOf = (hook: string) =>
  recordedCalls
    .filter(({ url }) => url.includes(`/${hook.toLowerCase()}`))
    .sort((a, b) => Number(/-(\d)/.exec(a.file)?.[1] ?? 1) - Number(/-(\d)/.exec(b.file)?.[1] ?? 1));

interface Made {
  hook: string;
  body: JsonObject;
}

let server: ExtensionServer;
let made: Made[];
let clusters: Awaited<ReturnType<typeof played>>;

beforeAll(async () => {
  const asked = new Map<string, number>();
  made = [];
  server = await startExtension(({ url, body: text }) => {
    const body = JSON.parse(text) as JsonObject;
    const hook = String(body.kind).replace(/Request$/, '');
    const number = asked.get(hook) ?? 0;
    asked.set(hook, number + 1);
    made.push({ hook, body });
    const answers = answersOf(url.split('/')[3]?.split('?')[0] ?? '');
    if (hook === 'GeneratePatches') {
      // The response names the items of its request.
      const [first] = body.items as JsonObject[];
      const [patch] = (answers[0]?.answer.items ?? []) as JsonObject[];
      return { status: 'Success', items: [{ ...patch, uid: first?.uid ?? '' }] };
    }
    return answers[Math.min(number, answers.length - 1)]?.answer;
  });
  const config = extensionConfig('lab', { url: server.url, caBundle }, [], { spec: { settings: { flavor: 'big' } } });
  clusters = await played([config], fixture('lab.yaml'), {
    release: { major: 1, minor: 13 },
    upgrades: ['v1.32.0'],
    isDeleted: true,
    // In the recorded simulation a user scaled the workers down while the control plane was upgraded.
    edit: makingEdits(
      editTopology(
        'scales md-0 to 0',
        ({ workers }) => {
          const [worker] = (workers as JsonObject).machineDeployments as JsonObject[];
          worker!.replicas = 0;
        },
        'AfterControlPlaneUpgrade',
      ),
    ),
  });
});
afterAll(() => server.close());

/** Collapses repeated runs of GeneratePatches and ValidateTopology, which come in each reconcile, into one. */
function withoutRuns(calls: readonly string[]): string[] {
  const isRound = (call: string | undefined) => call === 'GeneratePatches' || call === 'ValidateTopology';
  return calls.filter((call, index) => !isRound(call) || !isRound(calls[index - 2]) || !isRound(calls[index - 1]));
}

test('the simulation is completed', () => {
  expect(clusters.end).toMatchObject({ isComplete: true, reason: '' });
});

test('the sequence of calls, with requests and responses, is the recorded one', () => {
  const recorded = readFileSync(new URL('../../support/fixtures/runtime-sdk/sequence.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => line.slice(13).trim().replaceAll(/ +/g, ' '));
  const fields = ['toKubernetesVersion', 'fromControlPlaneKubernetesVersion', 'fromWorkersKubernetesVersion'];
  const played = clusters.calls.map(({ hook, call }, index) => {
    const { body } = made[index]!;
    const versions = (list: unknown) => (list as JsonObject[]).map(({ version }) => version).join(',');
    const given =
      hook === 'GenerateUpgradePlan'
        ? fields.map((field) => `${field}=${body[field]}`)
        : [
            'kubernetesVersion',
            'fromKubernetesVersion',
            'toKubernetesVersion',
            'controlPlaneUpgrades',
            'workersUpgrades',
          ]
            .filter((field) => body[field] !== undefined)
            .map((field) => `${field}=${Array.isArray(body[field]) ? versions(body[field]) : body[field]}`);
    const retry = call.retryAfterSeconds > 0 ? [`-> retryAfterSeconds ${call.retryAfterSeconds}`] : [];
    return [hook, ...given, ...retry].join(' ');
  });
  expect(played.filter((call) => call === 'GeneratePatches').length).toBeGreaterThan(10);
  expect(withoutRuns(played)).toEqual(withoutRuns(recorded));
});

test('calls have no Content-Type and the same paths, with the discovered timeouts', () => {
  for (const { method, url, headers } of server.received) {
    expect([method, headers['content-type']]).toEqual(['POST', undefined]);
    expect(recordedCalls.map((recorded) => recorded.url)).toContain(url);
  }
});

/** Differs between two runs by chance: identities, times, and letters of generated names. */
function normalized(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => normalized(item));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !['resourceVersion', 'creationTimestamp', 'deletionTimestamp'].includes(name))
        .map(([name, field]) => [name, normalized(field, name)]),
    );
  }
  if (key === 'uid') {
    return 'UID';
  }
  return typeof value === 'string' ? value.replace(/^(lab(?:-md-0)?)-[a-z0-9]{5}$/, '$1-SUFFIX') : value;
}

test.each(
  recordedCalls.map(({ file, body }) => [file, body] as const),
)('the request of %s is the recorded one', (file, body) => {
  const hook = String(body.kind).replace(/Request$/, '');
  const all = made.filter((one) => one.hook === hook).map((one) => normalized(one.body));
  const number = Number(/-(\d)/.exec(file)?.[1] ?? 1);
  if (file === 'GeneratePatches-upgrade.json') {
    expect(all).toContainEqual(normalized(body));
  } else {
    expect(all[number - 1]).toEqual(normalized(body));
  }
});
