import { printable } from '../../base/index.ts';
import type { Parsed } from '../../base/x509/index.ts';
import { injectCaFromSecretAnnotation, secretNameOf } from '../../extensionconfig/index.ts';
import {
  Forbidden,
  fetchSecret,
  type KubernetesClient,
  ResponseError,
  StatusError,
} from '../../kubernetes/client/index.ts';
import { fieldAt } from '../../kubernetes/index.ts';
import { injectBundle, readListed, readTarget } from './cluster-targets.ts';
import { bundleIn } from './inject.ts';
import type { TargetAccess, TargetReading } from './target.ts';

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
          const secret = fieldAt(object, 'metadata', 'annotations', injectCaFromSecretAnnotation);
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
      const secret = secretNameOf(value);
      if (secret === undefined) {
        return {
          state: 'broken',
          problem: `annotation ${injectCaFromSecretAnnotation} is ${printable(JSON.stringify(value.slice(0, 300)))}: write NAMESPACE/NAME of a Secret`,
        };
      }
      const { namespace, name } = secret;
      try {
        const found = await fetchSecret(cluster, namespace, name);
        return bundleIn(found?.data, `Secret ${namespace}/${name}`);
      } catch (error) {
        if (error instanceof StatusError || error instanceof Forbidden || error instanceof ResponseError) {
          return { state: 'broken', problem: error.message };
        }
        throw error;
      }
    },
  };
}
