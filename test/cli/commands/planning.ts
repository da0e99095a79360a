import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type JsonObject, textAt } from '../../../src/kubernetes/index.ts';
import { hooks } from '../../../src/runtimehooks/index.ts';
import type { HookCall } from '../../../src/topology/index.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { answerFrom, type RecordedChange, recordedChanges } from '../../topology/recorded.ts';

const isWritten = (name: string) => (object: JsonObject) =>
  ['Cluster', 'ClusterClass'].includes(textAt(object, 'kind')) ||
  (textAt(object, 'kind').endsWith('Template') &&
    textAt(object, 'metadata', 'labels', 'cluster.x-k8s.io/cluster-name') === '') ||
  (name.startsWith('F-') && ['KubeadmControlPlane', 'MachineDeployment'].includes(textAt(object, 'kind')));

export const list = (items: readonly JsonObject[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/** The folders of a change: what exists, and what a user writes. */
export function foldersOf(folder: string, change: RecordedChange, ...more: JsonObject[]): { from: string; to: string } {
  const [from, to] = [join(folder, change.name, 'from'), join(folder, change.name, 'to')];
  mkdirSync(from, { recursive: true });
  mkdirSync(to, { recursive: true });
  writeFileSync(join(from, 'all.yaml'), list(change.before));
  writeFileSync(join(to, 'all.yaml'), list([...change.after.filter(isWritten(change.name)), ...more]));
  return { from, to };
}

/** A sum in which nothing happens. */
export const noMachines = { replaced: 0, created: 0, deleted: 0, inPlace: 0, onDelete: 0, unknown: 0, notApplied: 0 };

export const named = (name: string): RecordedChange => recordedChanges.find((change) => change.name === name)!;

/** An extension that answers what was recorded. */
export async function startRecorded(change: RecordedChange): Promise<JsonObject[]> {
  const byPath = new Map(Object.keys(hooks).map((hook) => [hook.toLowerCase(), hook]));
  const answers = answerFrom(change);
  const offered = new Set(['generatepatches', ...change.exchanges.map(({ hook }) => hook)]);
  const requestHook = (hook: string) => ({ apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook });
  const handlers = [...offered].flatMap((path) => {
    const hook = byPath.get(path);
    return hook === undefined || hook === 'Discovery' ? [] : [{ name: path, requestHook: requestHook(hook) }];
  });
  const server = await startExtension(({ url, body }, response) => {
    const hook = byPath.get(url.split('/')[3] ?? '') as HookCall['hook'] | 'Discovery' | undefined;
    if (hook === 'Discovery' || hook === undefined) {
      return { status: 'Success', handlers } as unknown as JsonObject;
    }
    const object = { namespace: 'default', name: 'f1' };
    void answers({ state: 'after', hook, handler: 'one', request: JSON.parse(body), object }).then((answer) =>
      response.end(
        JSON.stringify(answer.is === 'answered' ? answer.response : { status: 'Failure', message: answer.is }),
      ),
    );
    return undefined;
  });
  onTestFinished(() => server.close());
  const registered = handlers.map((handler) => ({ ...handler, name: `${handler.name}.patcher` }));
  return [extensionConfig('patcher', { url: server.url, caBundle }, registered) as unknown as JsonObject];
}
