import { printable } from '../../base/index.ts';
import type { Parsed } from '../../base/x509/index.ts';
import {
  decodeSecret,
  explain,
  type KubernetesClient,
  ResponseError,
  StatusError,
  secretPath,
} from '../../kubernetes/client/index.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, fieldAt } from '../../kubernetes/index.ts';
import { injectBundle, readListed, readTarget } from './cluster-targets.ts';
import { bundleIn } from './inject.ts';
import type { TargetAccess, TargetReading } from './target.ts';

/** Cluster API's annotation to fill the caBundle from `ca.crt` of the Secret NAMESPACE/NAME. */
const injectCaFromSecret = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';

/** All ExtensionConfigs that ask for their caBundle to be injected, whatever service or URL they refer to. */
export function annotatedExtensionConfigs(cluster: KubernetesClient): {
  targets: TargetAccess;
  bundleFor(target: TargetReading): Promise<Parsed<string>>;
  /** The Secret that a target's annotation names. */
  sourceOf(target: TargetReading): string;
} {
  const wanted = new Map<string, string>();
  return {
    targets: {
      async read() {
        return readListed(cluster, 'ExtensionConfig', undefined, (path, object) => {
          const secret = fieldAt(object, 'metadata', 'annotations', injectCaFromSecret);
          if (typeof secret !== 'string') {
            return undefined;
          }
          const reading = readTarget('ExtensionConfig', path, object, undefined);
          wanted.set(reading.id, secret);
          return reading;
        });
      },
      inject: (target, bundle) => injectBundle(cluster, target, bundle),
    },
    sourceOf: ({ id }) => wanted.get(id) ?? '',
    async bundleFor(target) {
      const value = wanted.get(target.id) ?? '';
      const [namespace = '', name = '', ...more] = value.split('/', 3);
      if (more.length > 0 || dns1123LabelProblems(namespace).length > 0 || dns1123SubdomainProblems(name).length > 0) {
        return {
          state: 'broken',
          problem: `annotation ${injectCaFromSecret} is ${printable(JSON.stringify(value.slice(0, 300)))}: write NAMESPACE/NAME of a Secret`,
        };
      }
      try {
        return bundleIn(
          decodeSecret(await cluster.request('GET', secretPath(namespace, name)), namespace, name),
          `Secret ${namespace}/${name}`,
        );
      } catch (error) {
        if (error instanceof StatusError) {
          return error.code === 404
            ? bundleIn(undefined, `Secret ${namespace}/${name}`)
            : { state: 'broken', problem: (explain(error, 'get', 'secrets', `${namespace}/${name}`) as Error).message };
        }
        if (error instanceof ResponseError) {
          return { state: 'broken', problem: error.message };
        }
        throw error;
      }
    },
  };
}
