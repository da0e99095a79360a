import { orAborted } from '../../base/index.ts';
import { explain, isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';

type NamedKind = 'Secret' | 'Service';

/** Longest time that a decision waits for an object, in ms: the timeout of the webhooks is 5 s in our configurations. */
const timeoutMs = 1_000;
/** Maximum number of concurrent reads: anyone who may write ExtensionConfigs causes them. Beyond it, nothing is known. */
const maxReading = 32;

const plurals: Readonly<Record<NamedKind, string>> = { Secret: 'secrets', Service: 'services' };

/** Creates a reader. `onProblem` is called when the problem of a kind changes. */
export function createNamedObjects(
  client: KubernetesClient,
  onProblem: (kind: NamedKind, problem: string | undefined) => void,
) {
  const problems = new Map<NamedKind, string | undefined>();
  let reading = 0;

  function note(kind: NamedKind, problem: string | undefined): void {
    if (problem !== problems.get(kind)) {
      problems.set(kind, problem);
      onProblem(kind, problem);
    }
  }

  async function get(kind: NamedKind, namespace: string, name: string): Promise<JsonObject | 'absent' | undefined> {
    try {
      const object = await client.request('GET', `/api/v1/namespaces/${namespace}/${plurals[kind]}/${name}`);
      note(kind, undefined);
      return object;
    } catch (error) {
      if (isStatus(error, 404)) {
        note(kind, undefined);
        return 'absent';
      }
      note(kind, (explain(error, 'get', plurals[kind], `${namespace}/${name}`) as Error).message);
      return undefined;
    }
  }

  return {
    /** One object; undefined if that could not be found out within a second, as `problem` then says. Never rejects. */
    async read(kind: NamedKind, namespace: string, name: string): Promise<JsonObject | 'absent' | undefined> {
      if (reading >= maxReading) {
        note(kind, `more than ${maxReading} ${plurals[kind]} are being read at once`);
        return undefined;
      }
      reading++;
      // It goes on after the decision, until the client gives up.
      const read = get(kind, namespace, name).finally(() => reading--);
      try {
        return await orAborted(read, AbortSignal.timeout(timeoutMs));
      } catch {
        note(kind, `${plurals[kind]}: no answer from the API server within ${timeoutMs} ms`);
        return undefined;
      }
    },
    /** Why objects of a kind cannot be read, according to the last attempt; undefined if they can. */
    problem: (kind: NamedKind) => problems.get(kind),
  };
}

export type NamedObjects = ReturnType<typeof createNamedObjects>;
