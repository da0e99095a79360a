import { expect, onTestFinished, test } from 'vitest';
import { upgradeTicks } from '../../../src/checks/doctor/index.ts';
import { createClient } from '../../../src/runtimehooks/client/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import {
  type Answering,
  caBundle,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';

const v = (minor: number) => ({ major: 1, minor });

const offering =
  (...hooks: string[]): Answering =>
  () => ({
    status: 'Success',
    handlers: hooks.map((hook) => ({
      name: hook.toLowerCase(),
      requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
    })),
  });

async function urlOf(answer: Answering, options = {}) {
  const started = await startExtension(answer, options);
  onTestFinished(() => started.close());
  return started.url;
}

type Config = ReturnType<typeof extensionConfig>;

/** Asks the extensions as `doctor` does; what it says about an upgrade, `RESULT MESSAGE → REMEDY`. */
async function ahead(from: number | undefined, to: number, ...configs: Config[]) {
  const client = createClient({ release: v(to) });
  onTestFinished(() => client.close());
  const signal = new AbortController().signal;
  const asked = await Promise.all(
    configs.map(async (config) => ({
      config: { ...config, apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' },
      discovered: await client.discover(config, { signal }),
    })),
  );
  const ticks = upgradeTicks(asked, { from: from === undefined ? undefined : v(from), to: v(to) });
  return ticks.map(({ result, message, remedy }) => `${result} ${message}${remedy ? ` → ${remedy}` : ''}`);
}

test('the worst comes first, and what concerns several extensions is said once', async () => {
  const newer = await urlOf(offering('BeforeClusterCreate', 'BeforeWorkersUpgrade'));
  const lines = await ahead(
    10,
    11,
    extensionConfig('good', { url: await urlOf(offering('GeneratePatches')), caBundle }),
    extensionConfig('newer', { url: newer, caBundle }),
    extensionConfig('other', { url: newer, caBundle }),
    extensionConfig('gone', { url: 'https://localhost:1', caBundle }),
    extensionConfig('lost', { url: 'https://localhost:1', caBundle }),
  );
  expect(lines).toEqual([
    'failed newer, other: v1.11 refuses the extension as a whole: handler beforeworkersupgrade requestHook hooks.runtime.cluster.x-k8s.io/v1alpha1/BeforeWorkersUpgrade is not in the Runtime SDK catalog → install a release of the extension without this handler before the upgrade, or choose a target that knows the hook',
    'failed gone, lost: does not answer now: dial tcp 127.0.0.1:1: connect: connection refused → repair it or delete the ExtensionConfig before the upgrade: the upgrade restarts the managers, and a manager that cannot discover every extension within a minute exits, again and again',
    'warning good: v1.11: the builtin variable has no cluster.network.ipFamily → derive it from the CIDR blocks',
    'note good: v1.11: holders in the core group are v1beta2 (before: v1beta1) → compare kind and fieldPath of a holder, not its apiVersion',
  ]);
});

test('nothing in the way, 1.13 to 1.14: patches of metadata take effect', async () => {
  const url = await urlOf(offering('GeneratePatches'));
  const lines = await ahead(13, 14, extensionConfig('one', { url, caBundle }));
  expect(lines[0]).toBe('ok nothing is in the way of v1.14 for 1 extension');
  expect(lines[1]).toMatch(/^warning one: v1\.14: patches of labels and annotations in templates have an effect: /);
  expect(lines.slice(2).every((line) => line.startsWith('note '))).toBe(true);
});

test('a hook version that the target does not know, and a Service that has no address here', async () => {
  const service = extensionConfig('one', { service: { name: 'none', namespace: 'nowhere' }, caBundle });
  const [first] = await ahead(12, 14, service);
  expect(first).toMatch(
    /^failed one: cannot be reached from here: a Service has .* → .* kubectl port-forward, .*--resolve/,
  );
});

test('an older target is a downgrade; without the running release nothing is called safe', async () => {
  const config = extensionConfig('one', { url: await urlOf(offering('BeforeClusterCreate')), caBundle });
  expect((await ahead(14, 12, config)).join('\n')).toMatch(/^warning v1\.12 is older than v1\.14, which is running/m);
  const [first] = await ahead(undefined, 14, config);
  expect(first).toMatch(/^failed the running release is unknown; only what changed since v1\.13 is listed → /);
  expect(await ahead(undefined, 14)).toEqual(['ok nothing is in the way of v1.14 for 0 extensions']);
});
