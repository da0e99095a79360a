import { expect, test } from 'vitest';
import { type InPlaceUpdater, type MachineUpdate, machines } from '../../../../src/extension/index.ts';
import { assertIdempotent, callHandler, requestFor } from '../../../../src/extension/sdk/testing/index.ts';

/** Nodes that remember their updates, and extensions that do not. */
function lab() {
  const begun = new Map<string, number>();
  const node = { steps: 2, failure: undefined as string | undefined, kubelet: 'v1.32.0' };
  const updater: InPlaceUpdater = {
    name: 'lab',
    covers: { machine: ['spec.version', 'spec.failureDomain'] },
    async look({ key }: MachineUpdate) {
      const steps = begun.get(key);
      if (steps === undefined) {
        return { state: 'none' };
      }
      if (node.failure !== undefined) {
        return { state: 'failed', message: node.failure };
      }
      begun.set(key, steps + 1);
      return { state: steps < node.steps ? 'running' : 'done' };
    },
    async begin({ key }) {
      begun.set(key, 0);
      node.failure = undefined;
    },
    async kubeletVersion() {
      return node.kubelet;
    },
  };
  const extension = () => machines.inPlace([updater])[2];
  const call = async (request = requestFor('UpdateMachine')) => {
    const { result, response } = await callHandler(extension(), request);
    return [result, response.message];
  };
  return { node, begun, updater, extension, call };
}

test('the work begins once, whichever extension is asked, and is done when the kubelet has the version', async () => {
  const { node, begun, call } = lab();
  const running = ['blocking', 'the machine is being updated'];
  expect([await call(), await call(), await call()]).toEqual([running, running, running]);
  expect(await call()).toEqual(['blocking', 'the kubelet does not report v1.33.0 yet']);
  node.kubelet = 'v1.33.0';
  expect(await call()).toEqual(['success', undefined]);
  expect([...begun.keys()]).toEqual([expect.stringMatching(/^example-md-0-[0-9a-f]{16}$/)]);
});

test('work that fails is a Failure, and begins anew', async () => {
  const { node, call } = lab();
  await call();
  node.failure = 'no disk space';
  expect(await call()).toEqual(['failure', 'no disk space']);
  expect(await call()).toEqual(['blocking', 'the machine is being updated']);
});

test('a state that does not exist is a fault: the update would block forever', async () => {
  const updater = { ...lab().updater, look: async () => ({ state: 'complete' }) as never };
  const { result, lines } = await callHandler(machines.inPlace([updater])[2]);
  expect([result, lines.at(-1)?.message]).toEqual([
    'error',
    'look returned the state "complete": it must be none, running, failed or done',
  ]);
});

test('another desired state is another update; being asked again after the end is not', async () => {
  const { node, begun, call, extension } = lab();
  node.kubelet = 'v1.33.0';
  await assertIdempotent(extension());
  expect(begun.size).toBe(1);
  const request = structuredClone(requestFor('UpdateMachine'));
  request.desired.machine.spec.failureDomain = 'z9';
  await call(request);
  expect(begun.size).toBe(2);
});
