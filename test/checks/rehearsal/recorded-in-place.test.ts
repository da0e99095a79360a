import { afterAll, beforeAll, expect, test } from 'vitest';
import { pendingHooksAnnotation } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import {
  changesBetween,
  editTopology,
  makingEdits,
  recordedCallsIn,
  recordedChanges,
  recordedText,
} from './recorded.ts';
import { played } from './rehearsing.ts';

const calls = recordedCallsIn('main/in-place/calls');
const changes = recordedChanges('main/in-place/conditions.jsonl');
const encoded = (patch: unknown) => Buffer.from(JSON.stringify(patch)).toString('base64');

/** Names of objects by their depth: of a MachineDeployment or a template, a MachineSet, a Machine. */
const normalizedText = (text: string) =>
  text
    .replaceAll(
      /\bc3-md-0((?:-[bcdfghjklmnpqrstvwxz2456789]{5})+)\b/g,
      (_, suffix: string) => `c3-md-0${'-x'.repeat(suffix.length / 6)}`,
    )
    .replaceAll(/\b\d+-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'HASH')
    .replaceAll(/\b(?:lab|made-up):\/\//g, 'id://');
const normalized = (value: unknown): unknown => JSON.parse(normalizedText(JSON.stringify(value)));

const discovered = ['GeneratePatches', 'CanUpdateMachineSet', 'UpdateMachine'].map((hook) => ({
  name: hook === 'GeneratePatches' ? 'generate-patches' : hook.toLowerCase(),
  requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook },
}));

const failure = { status: 'Failure', message: 'node does not answer' };
const draining = { status: 'Success', retryAfterSeconds: 2, message: 'draining' };
const done = { status: 'Success' };

let server: ExtensionServer;
let image = 'base';
let coversAll = true;
/** Whether the answers to CanUpdateMachineSet covered all differences. */
const covered: boolean[] = [];
const requests: { hook: string; body: JsonObject }[] = [];
const updates = [failure, draining, draining, done, failure, draining, draining, done, done];
let result: Awaited<ReturnType<typeof played>>;

/** What the recorded extension answered: all differences are covered. */
function covering({ desired }: JsonObject): JsonObject {
  const patchOf = (object: JsonObject) => ({
    patchType: 'JSONMergePatch',
    patch: encoded({ spec: { template: { spec: ((object.spec as JsonObject).template as JsonObject).spec ?? {} } } }),
  });
  return {
    ...done,
    ...Object.fromEntries(
      Object.entries(desired as JsonObject).map(([name, object]) => [`${name}Patch`, patchOf(object as JsonObject)]),
    ),
  };
}

beforeAll(async () => {
  server = await startExtension(({ body: text }) => {
    const body = JSON.parse(text) as JsonObject;
    const hook = String(body.kind).replace(/Request$/, '');
    requests.push({ hook, body });
    if (hook === 'Discovery') {
      return { ...done, handlers: discovered };
    }
    if (hook === 'GeneratePatches') {
      const items = (body.items as JsonObject[]).filter(
        ({ object }) => (object as JsonObject).kind === 'InfraMachineTemplate',
      );
      const patch = encoded([{ op: 'replace', path: '/spec/template/spec/image', value: image }]);
      return { ...done, items: items.map(({ uid }) => ({ uid: uid ?? '', patchType: 'JSONPatch', patch })) };
    }
    if (hook === 'CanUpdateMachineSet') {
      covered.push(coversAll);
      return coversAll ? covering(body) : done;
    }
    return updates.shift() ?? done;
  });
  const changing = (text: string, before: string, to: string, covers: boolean, rollout?: JsonObject) =>
    editTopology(
      text,
      (topology) => {
        image = to;
        coversAll = covers;
        topology.variables = [{ name: 'image', value: to }];
        const [group] = (topology.workers as JsonObject).machineDeployments as JsonObject[];
        if (rollout !== undefined) {
          group!.rollout = rollout;
        }
      },
      before,
    );
  result = await played(
    [extensionConfig('lab', { url: server.url, caBundle })],
    `${recordedText('main/in-place/cluster.yaml')}---\n${recordedText('main/in-place/objects.yaml').replace('x: y', 'x: true')}`,
    {
      upgrades: ['v1.31.0'],
      updatesInPlace: true,
      edit: makingEdits(
        changing('changes the template', 'AfterControlPlaneInitialized', 'new', true),
        changing('changes the strategy', 'BeforeClusterUpgrade', 'new', true, {
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
        }),
        changing('changes the template again', 'AfterClusterUpgrade', 'third', false),
      ),
    },
  );
});
afterAll(() => server.close());

test('the lifecycle is completed', () => {
  expect(result.end).toMatchObject({ isComplete: true, reason: '' });
});

test('the sequence of calls is the recorded one', () => {
  const recorded = recordedText('main/in-place/sequence.txt')
    .trim()
    .split('\n')
    .map((line) => line.slice(13).split(' '))
    .map(([hook = '', name = '', ...answer]) => [hook, normalizedText(name), answer.join(' ')]);
  const made = result.calls
    .filter(({ hook }) => /Machine/.test(hook))
    .map(({ hook, machine = '', call: { status, retryAfterSeconds } }) => [
      hook,
      normalizedText(machine),
      status === 'Failure'
        ? 'failure'
        : retryAfterSeconds > 0
          ? `retry ${retryAfterSeconds}`
          : hook === 'CanUpdateMachineSet' && !covered.shift()
            ? 'covers nothing'
            : 'done',
    ]);
  expect(made).toEqual(recorded);
});

test.each([
  ['CanUpdateMachineSet', 'CanUpdateMachineSet', 0],
  ['CanUpdateMachineSet-version', 'CanUpdateMachineSet', 1],
  ['UpdateMachine', 'UpdateMachine', 0],
  ['UpdateMachine-version', 'UpdateMachine', 4],
])('the request of %s is the recorded one', (name, hook, index) => {
  const { body } = requests.filter((request) => request.hook === hook)[index]!;
  expect(normalized(body)).toEqual(normalized(calls.get(name)?.body));
});

test('the pending hooks during the upgrade are the recorded ones', () => {
  const recorded = changesBetween(changes, 'maxSurge 0').flatMap(({ kind, annotations }) =>
    kind === 'clusters' && annotations !== undefined ? [annotations[pendingHooksAnnotation] ?? ''] : [],
  );
  const made = result.events.flatMap((event) =>
    event.kind === 'pending-hooks' ? [event.text.replace(/^pending hooks: (none)?/, '')] : [],
  );
  // Cluster API's controller read a Cluster from its cache once, and marked and removed the last hook again.
  expect(made.slice(made.indexOf('AfterClusterUpgrade'))).toEqual(recorded.slice(0, recorded.indexOf('') + 1));
});
