import { expect, test } from 'vitest';
import { createPlanCaller } from '../../../src/checks/plan/index.ts';
import { newestKnownRelease } from '../../../src/runtimehooks/index.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';

test('of two extensions that offer to update Machines in place none is asked, as in Cluster API', async () => {
  const hook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'CanUpdateMachineSet' };
  const asked: string[] = [];
  const server = await startExtension(({ url }) => {
    asked.push(url);
    return { status: 'Success', handlers: [{ name: 'update', requestHook: hook }] };
  });
  const configs = ['one', 'two'].map((name) => extensionConfig(name, { url: server.url, caBundle }));
  const extensions = { configs, namespaceLabels: new Map() };
  await using caller = await createPlanCaller({
    before: extensions,
    after: extensions,
    release: newestKnownRelease,
    signal: new AbortController().signal,
  });
  asked.length = 0;
  const answer = await caller.call({
    state: 'after',
    hook: 'CanUpdateMachineSet',
    handler: '',
    request: {},
    object: { namespace: 'default', name: 'c' },
  });
  await server.close();
  expect(answer).toEqual({
    is: 'failed',
    error: 'found multiple CanUpdateMachineSet hooks (update.one,update.two): only one hook is supported',
  });
  expect(asked).toEqual([]);
});
