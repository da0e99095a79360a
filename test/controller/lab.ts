import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { type ControllerOptions, type ControllerPace, startController } from '../../src/controller/index.ts';
import type { ExtensionServerOptions, Handler } from '../../src/extension/index.ts';
import { crd } from '../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { clusterApiHooks, type HookDefinition } from '../../src/runtimehooks/index.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.ts';
import { testCa } from '../base/x509/certificates.ts';
import { startExtension } from '../extension/sdk/running.ts';
import { eventually, send } from '../sandbox/client.ts';
import { collectingLog } from '../server/running.ts';
import { endWith } from '../support/ends.ts';

/** The trust bundle of the test servers, as an ExtensionConfig holds it. */
export const caBundle = Buffer.from(testCa.cert).toString('base64');

const collection = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';

/** An ExtensionConfig as stored at the API server. */
export interface Config {
  metadata: { name: string; uid: string; resourceVersion: string; generation: number; annotations?: object };
  spec: { clientConfig: { url?: string; caBundle?: string } };
  status?: {
    conditions?: {
      type: string;
      status: string;
      reason: string;
      message: string;
      observedGeneration: number;
      lastTransitionTime: string;
    }[];
    handlers?: { name: string; requestHook: { hook: string } }[];
    deprecated?: object;
  };
}

/** A sandbox with the CRD, and the actions of tests on it. */
export async function startLab(options: SandboxOptions = {}) {
  const sandbox: Sandbox = await startSandbox(options);
  endWith(() => sandbox.stop());
  const request = async (method: string, path: string, body?: object, headers = {}) => {
    const answer = await send(sandbox, method, path, { ...(body && { body }), headers });
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.json as unknown;
  };
  await request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  await eventually(
    () => send(sandbox, 'GET', collection),
    ({ status }) => status === 200,
  );
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromString(sandbox.kubeconfig);
  const patch = (path: string, body: object) =>
    request('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });

  return {
    sandbox,
    kubeConfig,
    request,
    create: (name: string, spec: object, annotations = {}) =>
      request('POST', collection, {
        apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
        kind: 'ExtensionConfig',
        metadata: { name, annotations },
        spec,
      }) as Promise<Config>,
    get: (name: string) => request('GET', `${collection}/${name}`) as Promise<Config>,
    remove: (name: string) => request('DELETE', `${collection}/${name}`),
    patch: (name: string, body: object) => patch(`${collection}/${name}`, body),
    patchStatus: (name: string, status: object) => patch(`${collection}/${name}/status`, { status }),
    putSecret: async (name: string, data: Record<string, string>, namespace = 'default') => {
      const path = `/api/v1/namespaces/${namespace}/secrets`;
      const body = { metadata: { name }, stringData: data };
      const made = await send(sandbox, 'POST', path, { body });
      if (made.status === 409) {
        await request('PUT', `${path}/${name}`, body);
      }
    },
    /** Events of an object, `REASON: message`. */
    events: async (name: string) => {
      const { items } = (await request('GET', '/api/v1/namespaces/default/events')) as { items: JsonObject[] };
      return items
        .filter(({ involvedObject }) => (involvedObject as JsonObject).name === name)
        .map(({ type, reason, message, count }) => ({ type, reason, message, count }));
    },
    /** Waits until a condition has a status and a matching message; returns the object. */
    condition: (name: string, type: string, status: string, message = /^/) =>
      eventually(
        async () => (await request('GET', `${collection}/${name}`)) as Config,
        ({ status: { conditions = [] } = {} }) =>
          conditions.some((one) => one.type === type && one.status === status && message.test(one.message)),
      ),
  };
}

export type Lab = Awaited<ReturnType<typeof startLab>>;

/** Fast enough for tests. */
export const fastPace: Partial<ControllerPace> = {
  resyncMs: 60_000,
  secretMs: 100,
  queue: { minIntervalMs: 10, backoffMs: 50, backoffStepMs: 5, maxBackoffMs: 200 },
  informer: { watchMs: 2_000, graceMs: 500, minRetryMs: 50, maxRetryMs: 300 },
};

/** Starts a controller on a lab, with a log that is recorded. */
export async function control(
  { kubeConfig }: Pick<Lab, 'kubeConfig'>,
  options: Partial<ControllerOptions> = {},
  pace: Partial<ControllerPace> = {},
) {
  const { log, lines } = collectingLog();
  lastLogged.push(() => lines.at(-1));
  const controller = startController({
    kubeConfig,
    log,
    pace: { ...fastPace, ...pace },
    ...options,
  });
  endWith(() => controller.stop());
  return { controller, lines };
}

/** A handler that is only discovered, never called. */
export const handlerOf = (hookName: string, name: string): Handler => ({
  name,
  hook: clusterApiHooks.find((hook) => hook.name === hookName) as HookDefinition,
  timeoutSeconds: 5,
  handle: () => {},
});

const recorded = parse(
  readFileSync('test/support/fixtures/runtime-sdk/extensionconfig-not-discovered.yaml', 'utf8'),
) as Config;

/** The handlers of the extension that was recorded. */
export function recordedHandlers(): Handler[] {
  const handlers = recorded.status?.handlers ?? [];
  return handlers.map(({ name, requestHook }) => handlerOf(requestHook.hook, name.replace(/\..*/, '')));
}

/** Starts an extension with these handlers; `spec` calls it. */
export async function startCalled(
  handlers: Handler[] = recordedHandlers(),
  options: Partial<ExtensionServerOptions> = {},
) {
  const extension = await startExtension(handlers, options);
  const url = `https://localhost:${extension.port}`;
  return { ...extension, url, spec: { clientConfig: { url, caBundle } } };
}

/** The last lines that controllers of this test file have logged. */
const lastLogged: (() => unknown)[] = [];

/** Waits until something holds, with growing intervals; fails after 60 seconds, with what was logged last. */
export async function until(check: () => unknown): Promise<void> {
  const end = performance.now() + 60_000;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.5, 100)) {
    try {
      await check();
      return;
    } catch (error) {
      if (performance.now() > end) {
        const logged = lastLogged.map((line) => JSON.stringify(line())).join('\n');
        throw new Error(`not within 60 s: ${(error as Error).message}\nlast logged: ${logged}`, { cause: error });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
