import { shortList } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { type LabelSelector, selectsLabels } from '../../kubernetes/index.ts';
import { type HookName, hooks } from '../../runtimehooks/index.ts';
import type { Blueprint } from '../../topology/index.ts';
import { isRehearsed } from './events.ts';
import type { Scenario } from './life.ts';

const maxNamed = 10;

const notCalled = (names: readonly string[], why: string, remedy: string) =>
  names.length === 0 ? [] : [{ text: `not called: ${shortList(names, maxNamed)}: ${why}`, remedy }];

/** The name of a class in entries: a Cluster may have the same one. */
export const nameOfClass = ({ namespace, name }: Blueprint): string => `ClusterClass ${namespace}/${name}`;

/** Extensions that are not called for the Clusters of a namespace, since a selector that does not match goes unnoticed. */
export function unselected(
  configs: readonly ExtensionConfig[],
  namespace: string,
  labels: Readonly<Record<string, string>>,
): { text: string; remedy: string }[] {
  const shown = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return configs.flatMap(({ metadata, spec }) => {
    const selector = spec?.namespaceSelector as LabelSelector | undefined;
    if (selector !== undefined && selectsLabels(selector, labels)) {
      return [];
    }
    const why =
      selector === undefined
        ? 'it has no namespaceSelector'
        : `its namespaceSelector does not match the labels ${shown.join(', ')}`;
    const remedy = 'pass the Namespace with its labels in a file of --cluster, or change the selector';
    return [{ text: `${metadata.name} is not called for Clusters in namespace ${namespace}: ${why}`, remedy }];
  });
}

/** Which handlers of a hook are called; undefined for an unknown one. */
const callsOf = (hook: string) => (Object.hasOwn(hooks, hook) ? hooks[hook as HookName].calls : undefined);

/** Handlers that this rehearsal never calls. */
export function uncalled(
  configs: readonly ExtensionConfig[],
  blueprints: readonly Blueprint[],
  { updatesInPlace, upgrades }: Pick<Scenario, 'updatesInPlace' | 'upgrades'>,
): { text: string; remedy: string }[] {
  const named = new Set(
    blueprints.flatMap(({ planHandler, patches }) => [
      planHandler,
      ...patches.flatMap((patch) => [patch.generatePatches, patch.validateTopology, patch.discoverVariables]),
    ]),
  );
  const handlers = configs.flatMap(({ status }) => status?.handlers ?? []);
  const namesOf = (isUncalled: (hook: string, name: string) => boolean) =>
    handlers.flatMap(({ name = '', requestHook }) => (isUncalled(requestHook?.hook ?? '', name) ? [name] : []));
  const unnamed = namesOf((hook, name) => callsOf(hook) === 'named' && !named.has(name));
  const remedy =
    blueprints.length > 0
      ? 'name them in the ClusterClass, if they are meant for these Clusters'
      : 'pass the ClusterClass that names them with --cluster';
  const missing = [
    ...(updatesInPlace ? [] : ['--feature-gates InPlaceUpdates=true']),
    ...(upgrades.length > 0 ? [] : ['--set-version VERSION']),
  ];
  const inPlace = namesOf((hook) => missing.length > 0 && callsOf(hook) === 'only');
  const unplayed = namesOf((hook) => callsOf(hook) !== undefined && !isRehearsed(hook));
  return [
    ...notCalled(unnamed, 'no ClusterClass names them', remedy),
    ...notCalled(inPlace, 'machines are not updated in place', `add ${missing.join(' and ')}`),
    ...notCalled(unplayed, 'a rehearsal does not play their hooks', 'try them with "call"'),
  ];
}
