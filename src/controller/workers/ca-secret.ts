import { Buffer } from 'node:buffer';
import {
  Forbidden,
  fetchSecret,
  isStatus,
  type KubernetesClient,
  ResponseError,
} from '../../kubernetes/client/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';

/** The CA bundle in a Secret as base64, or why there is none. */
type CaReading = { caBundle: string } | { problem: string };

/**
 * Reads `ca.crt` of a Secret.
 *
 * @throws {ConnectionError} and other retryable failures of the API server.
 */
export async function readCaBundle(
  cluster: KubernetesClient,
  { namespace, name }: { namespace: string; name: string },
): Promise<CaReading> {
  const what = `${namespace}/${name}`;
  try {
    const stored = await fetchSecret(cluster, namespace, name);
    if (stored === undefined) {
      return { problem: `secret ${what} does not exist` };
    }
    const { secret, data } = stored;
    const text = data['ca.crt'];
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
    const isRefused = error instanceof Forbidden || isStatus(error, 403);
    if (isRefused || error instanceof ResponseError) {
      return { problem: error.message };
    }
    throw error;
  }
}
