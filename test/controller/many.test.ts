import type { ServerResponse } from 'node:http';
import { aroundEach, expect, test } from 'vitest';
import { startExtension } from '../runtimehooks/client/extension-server.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import { ending, endWith } from '../support/ends.ts';
import { limitWork } from '../support/work.ts';
import { type Config, caBundle, control, startLab } from './lab.ts';

aroundEach(ending);

function usedMiB(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

/** CONTROLLER_CONFIGS=1000 for a large cluster. */
const count = Number(process.env.CONTROLLER_CONFIGS ?? 34);

test('discovers many ExtensionConfigs of one server quickly, 32 at a time, with one write each and bounded memory', async () => {
  const lab = await startLab();
  const handlers = Array.from({ length: 5 }, (_, index) => ({
    name: `handler-${index}`,
    requestHook: { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterCreate' },
  }));
  let asked = 0;
  const held: ServerResponse[] = [];
  const server = await startExtension((_received, response) => {
    asked++;
    server.received.length = 0;
    if (asked > 32) {
      return { status: 'Success', handlers };
    }
    // The first 32 get their responses when others, if more were discovered at a time, had a moment to arrive.
    held.push(response);
    if (asked === 32) {
      setTimeout(() => {
        for (const one of held) {
          one.end(JSON.stringify({ status: 'Success', handlers }));
        }
      }, 200);
    }
    return undefined;
  });
  endWith(() => server.close());
  for (let made = 0; made < count; made++) {
    await lab.create(`e${made}`, { clientConfig: { url: server.url, caBundle } });
  }
  const list = async () =>
    (await lab.request('GET', '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs')) as {
      items: Config[];
    };
  const reach = async (isThere: () => boolean | Promise<boolean>) => {
    while (!(await isThere())) {
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  };
  /** Sum of the resource versions: it changes with each write. */
  const versions = async () =>
    (await list()).items.reduce((sum, { metadata }) => sum + Number(metadata.resourceVersion), 0);
  // One whose first discovery took too long, on a busy machine, is discovered again.
  const isDiscovered = ({ status }: Config) =>
    status?.conditions?.some((one) => one.type === 'Discovered' && one.status === 'True') ?? false;
  {
    // Includes the API server and the extension.
    using _work = limitWork(40 * count);
    await control(lab, {}, { resyncMs: 2_000 });
    await reach(async () => (await list()).items.every(isDiscovered));
  }
  const version = await versions();
  const [memory, first] = [usedMiB(), asked];
  await reach(() => asked > first + count);
  expect(usedMiB() - memory).toBeLessThan(20);
  expect(await versions()).toBe(version);
  expect(server.mostAtOnce()).toBe(32);
}, 180_000);
