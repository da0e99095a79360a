import { isStatus, type KubernetesClient } from '../../../kubernetes/client/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';

/** Creates an object, unless there is one of its name, as in a sandbox with data; returns whether it was created. */
export async function createMissing(client: KubernetesClient, path: string, object: JsonObject): Promise<boolean> {
  try {
    await client.request('POST', path, object);
    return true;
  } catch (error) {
    if (!isStatus(error, 409)) {
      throw error;
    }
    return false;
  }
}
