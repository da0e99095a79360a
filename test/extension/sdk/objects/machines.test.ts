import { expect, test } from 'vitest';
import {
  type InPlaceUpdater,
  type MachineUpdate,
  type MachineUpdateState,
  machines,
} from '../../../../src/extension/index.ts';
import { callHandler, requestFor } from '../../../../src/extension/sdk/testing/index.ts';

/** An updater whose node remembers what has been begun. */
function updater(name: string, more: Partial<InPlaceUpdater> & Pick<InPlaceUpdater, 'covers'>) {
  const node = new Map<string, MachineUpdateState>();
  const begun: string[] = [];
  const one: InPlaceUpdater = {
    name,
    look: async ({ key }: MachineUpdate) => node.get(key) ?? { state: 'none' },
    begin: async ({ key }: MachineUpdate) => {
      begun.push(key);
      node.set(key, { state: 'running' });
    },
    ...more,
  };
  const finish = () => {
    for (const key of node.keys()) {
      node.set(key, { state: 'done' });
    }
  };
  return { one, begun, finish };
}

const files = () =>
  updater('files', { covers: { bootstrapConfig: { KubeadmConfig: ['spec.files'] } }, affectsAvailability: false });
const failureDomain = () => updater('domain', { covers: { machine: ['spec.failureDomain'] } });

const sample = requestFor('CanUpdateMachine');
const machine = sample.current.machine;
const config = { apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2', kind: 'KubeadmConfig' };
const objects = (list: unknown, domain: string) => ({
  ...sample.current,
  machine: { ...machine, spec: { ...machine.spec, failureDomain: domain } },
  bootstrapConfig: { ...config, spec: { files: list, other: list } },
});
const change = (list: unknown, domain: string) =>
  requestFor('CanUpdateMachine', { current: objects([], 'a') as never, desired: objects(list, domain) as never });
const patchesIn = (response: object) =>
  Object.entries(response)
    .filter(([name]) => name.endsWith('Patch'))
    .map(([name, { patch }]) => [name, JSON.parse(Buffer.from(patch, 'base64').toString())]);

test('a change is covered by all updaters together, and availability is that of those that it needs', async () => {
  const [can] = machines.inPlace([files().one, failureDomain().one]);
  const ask = async (list: unknown, domain: string) => {
    const { response } = await callHandler(can, change(list, domain));
    return { patches: patchesIn(response), affectsAvailability: response.affectsAvailability };
  };
  const patch = ['bootstrapConfigPatch', [{ op: 'add', path: '/spec/files/0', value: 'x' }]];
  const domainPatch = ['machinePatch', [{ op: 'replace', path: '/spec/failureDomain', value: 'b' }]];
  expect(await ask(['x'], 'a')).toEqual({ patches: [patch], affectsAvailability: false });
  expect(await ask(['x'], 'b')).toEqual({ patches: [domainPatch, patch], affectsAvailability: undefined });
  expect(await ask([], 'a')).toEqual({ patches: [], affectsAvailability: undefined });
});

test('the answer is sent with the field that its schema does not have, and requests may have others', async () => {
  const [can] = machines.inPlace([files().one]);
  const { text, result } = await callHandler(can, { ...change(['x'], 'a'), preserve: { a: 1 } } as never);
  expect([result, JSON.parse(text).affectsAvailability]).toEqual(['success', false]);
});

test('templates of a MachineSet are covered by the same fields', async () => {
  const [, canSet] = machines.inPlace([files().one, failureDomain().one]);
  const set = requestFor('CanUpdateMachineSet');
  const withFiles = (list: unknown) => ({
    ...set.current,
    bootstrapConfigTemplate: { kind: 'KubeadmConfigTemplate', spec: { template: { spec: { files: list } } } },
  });
  const { response } = await callHandler(canSet, {
    ...set,
    current: withFiles([]),
    desired: withFiles(['x']),
  } as never);
  expect(patchesIn(response)).toEqual([
    ['bootstrapConfigTemplatePatch', [{ op: 'add', path: '/spec/template/spec/files/0', value: 'x' }]],
  ]);
});

test('a Machine is updated by one after the other; what has not changed for one is not done again', async () => {
  const [first, second] = [files(), failureDomain()];
  const [, , updating] = machines.inPlace([first.one, second.one], { retryAfterSeconds: 3 });
  const update = async (list: unknown, domain: string) => {
    const { response, result } = await callHandler(
      updating,
      requestFor('UpdateMachine', { desired: objects(list, domain) as never }),
    );
    return [result, response.retryAfterSeconds];
  };
  expect(await update(['x'], 'b')).toEqual(['blocking', 3]);
  expect([first.begun.length, second.begun.length]).toEqual([1, 0]);
  first.finish();
  expect(await update(['x'], 'b')).toEqual(['blocking', 3]);
  expect([first.begun.length, second.begun.length]).toEqual([1, 1]);
  second.finish();
  expect(await update(['x'], 'b')).toEqual(['success', 0]);
  expect(await update(['x'], 'c')).toEqual(['blocking', 3]);
  expect([first.begun.length, second.begun.length]).toEqual([1, 2]);
});

test.each([[[]], [['a', 'a']], [['']]])('updaters with the names %j are refused', (names) => {
  const updaters = names.map((name) => updater(name, { covers: {} }).one);
  expect(() => machines.inPlace(updaters)).toThrow(/^updaters: each needs a name of its own/);
});
