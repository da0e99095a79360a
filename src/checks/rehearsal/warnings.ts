import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { type LabelSelector, selectsLabels } from '../../kubernetes/index.ts';
import type { Blueprint } from '../../topology/index.ts';

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
    const remedy = 'pass the Namespace with its labels in a file of --cluster-files, or change the selector';
    return [{ text: `${metadata.name} is not called for Clusters in namespace ${namespace}: ${why}`, remedy }];
  });
}
