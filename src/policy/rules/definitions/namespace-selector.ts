import {
  formatFieldPath,
  labelSelectorContradiction,
  labelSelectorProblems,
  selectsEverything,
} from '../../../kubernetes/index.ts';
import { referencesTo } from '../../facts/store.ts';
import { isComparable, selectsNamespace, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

const path = ['spec', 'namespaceSelector'];

const maxListed = 10;

export const namespaceSelectorRules: readonly Rule[] = [
  {
    id: 'namespace-selector',
    summary: 'namespaceSelector is set (the webhook defaults it to all namespaces) and is a valid label selector.',
    severity: 'deny',
    upstream: true,
    check({ object }, report) {
      const selector = object.spec?.namespaceSelector;
      if (selector === undefined) {
        report({ path, reason: 'FieldValueRequired', message: 'set a label selector; {} selects all namespaces' });
        return;
      }
      const problems = labelSelectorProblems(selector, maxListed + 1);
      if (problems.length > 0) {
        const texts = problems.slice(0, maxListed).map(({ path: at, message }) => `${formatFieldPath(at)}: ${message}`);
        const more = problems.length > maxListed ? '; and more' : '';
        report({ path, message: `${texts.join('; ')}${more}` });
      }
    },
  },
  {
    id: 'namespace-selector-contradiction',
    summary: 'The requirements of namespaceSelector do not contradict each other.',
    severity: 'warn',
    check({ object }, report) {
      const selector = object.spec?.namespaceSelector ?? {};
      const contradiction = labelSelectorContradiction(selector);
      // Invalid selectors are reported by rule namespace-selector.
      if (contradiction !== undefined && labelSelectorProblems(selector).length === 0) {
        const remedy = 'remove one of the requirements';
        report({ path, message: `can never match, so the extension is never called: ${contradiction}; ${remedy}` });
      }
    },
  },
  {
    id: 'namespace-selector-excludes',
    summary: 'An update of namespaceSelector does not exclude a namespace with Clusters that use the extension.',
    severity: 'warn',
    needs: 'facts',
    check({ object, oldObject, facts }, report) {
      const { name = '' } = object.metadata;
      const selector = object.spec?.namespaceSelector;
      const references = referencesTo(name, facts ?? {});
      if (
        facts?.clusters === undefined ||
        references === undefined ||
        !isComparable(selector) ||
        selectsEverything(selector)
      ) {
        return;
      }
      const classes = new Set(references.map(({ clusterClass }) => clusterClass));
      const clusters = [...facts.clusters.values()].filter(({ clusterClass = '' }) => classes.has(clusterClass));
      const namespaces = new Set(clusters.map(({ namespace }) => namespace));
      // Each is compared with the whole selector.
      const outside = [...namespaces]
        .slice(0, 5_000)
        .filter((namespace) => selectsNamespace(selector, namespace, facts) === false);
      // For an object in git, the previous version is the one in the cluster.
      const before =
        oldObject === undefined
          ? facts.extensionConfigs?.get(name)?.namespaceSelector
          : oldObject.spec?.namespaceSelector;
      const excluded = isComparable(before)
        ? outside.filter((namespace) => selectsNamespace(before, namespace, facts) === true)
        : [];
      if (excluded.length > 0) {
        report({
          path,
          message: `now excludes ${someOf(excluded)}, which have Clusters of a ClusterClass that names the extension (${someOf(classes)}): those Clusters fail; select these namespaces too`,
        });
      }
    },
  },
];
