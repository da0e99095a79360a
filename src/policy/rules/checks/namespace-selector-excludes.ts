import { selectsEverything } from '../../../kubernetes/index.ts';
import { exampleClass, exampleCluster, exampleNamespace } from '../examples/cluster.ts';
import { example } from '../examples/manifest.ts';
import { namespaceSelectorOf } from '../fields/namespace-selector.ts';
import { isComparable, selectsNamespace, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

/** Maximum number of namespaces that are examined: each is compared with the whole selector. */
const maxNamespaces = 5_000;

export const rule: Rule = {
  id: 'namespace-selector-excludes',
  summary:
    'An update of namespaceSelector does not exclude a namespace with Clusters whose ClusterClass names the extension.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, oldObject, facts }, report) {
    const { name = '' } = object.metadata;
    const selector = namespaceSelectorOf(object);
    const references = facts?.clusterClasses?.namingExtension(name);
    if (
      facts?.clusters === undefined ||
      references === undefined ||
      !isComparable(selector) ||
      selectsEverything(selector)
    ) {
      return;
    }
    const namespaces = new Set<string>();
    for (const clusterClass of new Set(Array.from(references, (reference) => reference.clusterClass))) {
      for (const namespace of facts.clusters.namespacesOfClass(clusterClass)) {
        if (namespaces.size < maxNamespaces) {
          namespaces.add(namespace);
        }
      }
    }
    const outside = [...namespaces].filter((namespace) => selectsNamespace(selector, namespace, facts) === false);
    // Then the old object need not be decoded.
    if (outside.length === 0) {
      return;
    }
    // For an object in git, the previous version is the one in the cluster.
    const before =
      oldObject === undefined
        ? facts.extensionConfigs?.find(name)?.namespaceSelector
        : namespaceSelectorOf(oldObject());
    const excluded = isComparable(before)
      ? outside.filter((namespace) => selectsNamespace(before, namespace, facts) === true)
      : [];
    if (excluded.length > 0) {
      const classes = someOf(Array.from(references, ({ clusterClass }) => clusterClass));
      report({
        path: ['spec', 'namespaceSelector'],
        reason: 'FieldValueInvalid',
        message: `now excludes ${someOf(excluded)}, which have Clusters of a ClusterClass that names the extension (${classes}): those Clusters fail; select these namespaces too`,
      });
    }
  },
  example: {
    context: [exampleClass(), exampleCluster(), exampleNamespace],
    old: example(),
    bad: example({ spec: { namespaceSelector: { matchLabels: { team: 'b' } } } }),
    good: example({ spec: { namespaceSelector: { matchLabels: { team: 'a' } } } }),
  },
};
