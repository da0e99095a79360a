import {
  apiVersionOf,
  group,
  hubVersion,
  isExtensionConfig,
  kind,
  versionOf,
  versions,
} from '../../../extensionconfig/index.ts';
import { dns1123LabelProblems, labelValueProblems, qualifiedNameProblems } from '../../../kubernetes/index.ts';
import { hookCatalog, phaseIn } from '../../../runtimehooks/index.ts';
import type { Rule } from '../rule.ts';

/** A name as the API server makes it of a generateName: at most 58 characters of it, and five that are valid in any label. */
const nameFor = (generateName: string) => `${generateName.slice(0, 58)}xxxxx`;

export const metadataRules: readonly Rule[] = [
  {
    id: 'api-version-unknown',
    summary: 'The API version exists. (For the linter.)',
    severity: 'deny',
    upstream: true,
    // A webhook only sees versions that the API server serves.
    needs: 'manifest',
    check({ object }, report) {
      if (isExtensionConfig(object) && versionOf(object.apiVersion) === undefined) {
        report({
          path: ['apiVersion'],
          reason: 'FieldValueNotSupported',
          value: object.apiVersion,
          message: `is not a version of ${kind}; write ${versions.map(apiVersionOf).toReversed().join(' or ')}`,
        });
      }
    },
  },
  {
    id: 'api-group',
    summary: 'The API group is runtime.cluster.x-k8s.io. (For the linter.)',
    severity: 'deny',
    needs: 'manifest',
    check({ object }, report) {
      if (!isExtensionConfig(object)) {
        report({
          path: ['apiVersion'],
          reason: 'FieldValueNotSupported',
          value: object.apiVersion,
          message: `${kind} is a kind of ${group}; write ${apiVersionOf(hubVersion)}`,
        });
      }
    },
  },
  {
    id: 'api-version-deprecated',
    summary: 'The API version is not deprecated.',
    severity: 'warn',
    subjects: ['object', 'status'],
    check({ writtenAs }, report, { hooks = hookCatalog, clusterApi }) {
      // The storage version is the one to write.
      const lifecycle = writtenAs === hubVersion ? undefined : hooks.find(group, writtenAs, kind);
      if (lifecycle !== undefined && ['deprecated', 'removed'].includes(phaseIn(lifecycle, clusterApi))) {
        const { replacedBy: instead } = lifecycle;
        const remedy = instead && `; use ${instead.group}/${instead.version} ${instead.name}`;
        // Word for word the API server's own warning about a version that the CRD marks deprecated: kubectl prints it once.
        const message = `${group}/${writtenAs} ${kind} is deprecated${remedy ?? ''}`;
        report({ path: ['apiVersion'], message, verbatim: true });
      }
    },
  },
  {
    id: 'name-dns-label',
    summary: 'The name is an RFC 1123 label without dots, because it becomes the last part of every handler name.',
    severity: 'deny',
    upstream: true,
    check({ object: { metadata } }, report) {
      const generated = !metadata.name && metadata.generateName;
      const name = generated ? nameFor(generated) : (metadata.name ?? '');
      const path = ['metadata', generated ? 'generateName' : 'name'];
      for (const message of dns1123LabelProblems(name)) {
        report({ path, value: generated || name, message });
      }
    },
  },
  {
    id: 'metadata',
    summary: 'Keys of labels and annotations, and values of labels, are valid. (For the linter.)',
    severity: 'deny',
    needs: 'manifest',
    check({ object: { metadata } }, report) {
      for (const [key, value] of Object.entries(metadata.labels ?? {})) {
        for (const [shown, problems] of [
          [key, qualifiedNameProblems(key)],
          [value, labelValueProblems(value)],
        ] as const) {
          for (const message of problems) {
            report({ path: ['metadata', 'labels', key], value: shown, message });
          }
        }
      }
      for (const key of Object.keys(metadata.annotations ?? {})) {
        // Only keys of annotations may have capitals in their prefix.
        for (const message of qualifiedNameProblems(key.toLowerCase())) {
          report({ path: ['metadata', 'annotations', key], value: key, message });
        }
      }
    },
  },
  {
    id: 'metadata-namespace',
    summary: 'metadata.namespace is not set: ExtensionConfigs are cluster-scoped, and the API server drops it.',
    severity: 'warn',
    check({ object: { metadata } }, report) {
      if (metadata.namespace) {
        report({
          path: ['metadata', 'namespace'],
          reason: 'FieldValueForbidden',
          value: metadata.namespace,
          message: `${kind}s are cluster-scoped, so the API server drops this: remove it`,
        });
      }
    },
  },
  {
    id: 'name-repeated',
    summary: 'No two objects in a file, or in a folder without a kustomization, have the same name. (For the linter.)',
    severity: 'warn',
    needs: 'manifest',
    check({ object: { metadata }, namesake }, report) {
      if (namesake !== undefined) {
        report({
          path: ['metadata', 'name'],
          reason: 'FieldValueDuplicate',
          value: metadata.name,
          message: `is also the name of the ${kind} in ${namesake}: applied to the same cluster, this one replaces it`,
        });
      }
    },
  },
];
