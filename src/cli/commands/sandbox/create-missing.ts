import { type KubernetesClient, StatusError } from '../../../kubernetes/client/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';

/**
 * Creates an object, unless there is one of its name, as in a sandbox that has been started before.
 *
 * @throws {StatusError | ConnectionError} of the API server.
 */
export async function createMissing(client: KubernetesClient, path: string, object: JsonObject): Promise<void> {
  try {
    await client.request('POST', path, object);
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 409)) {
      throw error;
    }
  }
}
