import { Buffer } from 'node:buffer';
import {
  decodeSecret,
  explain,
  type KubernetesClient,
  ResponseError,
  StatusError,
  secretPath,
} from '../../kubernetes/client/index.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems, isJsonObject } from '../../kubernetes/index.ts';

/** A Secret that is named in an annotation. */
interface SecretName {
  namespace: string;
  name: string;
}

/** The CA bundle in a Secret as base64, or why there is none. */
type CaReading = { caBundle: string } | { problem: string };

/** Quotes an annotation, since anyone who may write an ExtensionConfig controls its text. */
const quoted = (text: string) => JSON.stringify(text.slice(0, 300));

/** The Secret that an annotation names, as Cluster API reads it: split at the first slash. */
export function secretNameOf(annotation: string): SecretName | { problem: string } {
  const slash = annotation.indexOf('/');
  const namespace = annotation.slice(0, Math.max(slash, 0));
  const name = annotation.slice(slash + 1);
  return dns1123LabelProblems(namespace).length > 0 || dns1123SubdomainProblems(name).length > 0
    ? { problem: `secret name ${quoted(annotation)} must be in the form <namespace>/<name>` }
    : { namespace, name };
}

/**
 * Reads `ca.crt` of a Secret.
 *
 * @throws {ConnectionError} and other retryable failures of the API server.
 */
export async function readCaBundle(cluster: KubernetesClient, { namespace, name }: SecretName): Promise<CaReading> {
  const what = `${namespace}/${name}`;
  try {
    const secret = await cluster.request('GET', secretPath(namespace, name));
    const text = decodeSecret(secret, namespace, name)['ca.crt'];
    const value = isJsonObject(secret.data) ? secret.data['ca.crt'] : undefined;
    if (typeof value !== 'string') {
      return { problem: `secret ${what} does not contain a "ca.crt" entry` };
    }
    if (text === undefined) {
      return { problem: `"ca.crt" of secret ${what} is larger than 96 KiB` };
    }
    if (!text.includes('-----BEGIN CERTIFICATE-----')) {
      return { problem: `"ca.crt" of secret ${what} contains no PEM certificate` };
    }
    // A private key here would become readable to everyone who may read ExtensionConfigs.
    if (text.includes('PRIVATE KEY-----')) {
      return {
        problem: `"ca.crt" of secret ${what} contains a private key, which must not be published in a caBundle`,
      };
    }
    return { caBundle: Buffer.from(value, 'base64').toString('base64') };
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) {
      return { problem: `secret ${what} does not exist` };
    }
    if (error instanceof StatusError && (error.code === 403 || error.code === 401)) {
      return { problem: (explain(error, 'get', 'secrets', what) as Error).message };
    }
    if (error instanceof ResponseError) {
      return { problem: error.message };
    }
    throw error;
  }
}
