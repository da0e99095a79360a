import { UsageError } from '../../base/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import { onlyValue } from '../../kubernetes/manifests/index.ts';
import { fieldOf, prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';
import { handlers } from './work.ts';

/** The behaviour of a handler in place of its work, in the order of these fields. */
interface Behaviour {
  /** Never answers: the server's own 504, half a second after the caller has given up, comes too late. */
  hang?: boolean;
  /** Waits before it answers, in seconds. */
  delaySeconds?: number;
  /** Fails: for the first calls of each Cluster, or always. */
  fail?: { message: string; times?: number };
  /** Blocks: for the first calls of each Cluster (not counting those that failed), or always. */
  block?: { retryAfterSeconds: number; message: string; times?: number };
}

export type Behaviours = ReadonlyMap<string, Behaviour>;

const maxFileLength = 256 * 1024;
const maxSeconds = 3600;
const maxTimes = 1_000_000;
const maxPathLength = 200;

const times = { type: 'integer', minimum: 1, maximum: maxTimes };
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
});
const text = { type: 'string' };
const behaviour = (canBlock: boolean): Schema =>
  object({
    hang: { type: 'boolean' },
    delaySeconds: { type: 'number', minimum: 0, maximum: maxSeconds },
    fail: object({ message: text, times }, ['message']),
    ...(canBlock && {
      block: object({ retryAfterSeconds: { ...times, maximum: maxSeconds }, message: text, times }, [
        'retryAfterSeconds',
        'message',
      ]),
    }),
  });

/** The remedy for a field that a schema does not have. */
function unknownField(path: string, schema: Schema): string {
  const holder = path.split('.').slice(0, -1).reduce<Schema | undefined>(fieldOf, schema);
  const names = Object.keys(holder?.properties ?? {}).join(', ');
  return `${path.slice(0, maxPathLength)} is not known; it must be one of ${names}`;
}

/**
 * Reads a behaviour file for the handlers of the sample:
 *
 * ```yaml
 * handlers:
 *   before-cluster-upgrade:
 *     block: { times: 3, retryAfterSeconds: 5, message: backups run }
 * ```
 *
 * @throws {UsageError} with all problems of the file.
 */
export function readBehaviours(yaml: string): Behaviours {
  const document = onlyValue(yaml, maxFileLength);
  const ofHandlers = Object.fromEntries(handlers.map(({ name, hook }) => [name, behaviour(hook.isBlocking)]));
  const schema = object({ handlers: object(ofHandlers) }, ['handlers']);
  if (!isJsonObject(document)) {
    throw new UsageError('it must have one field, handlers, with a behaviour for each handler that it names');
  }
  const problems = [
    ...prune(document, schema, false).map((path) => unknownField(path, schema)),
    ...validateSchema(document, schema).map(({ field, message }) => `${field}: ${message}`),
  ];
  if (problems.length > 0) {
    throw new UsageError(problems.slice(0, 20).join('; '));
  }
  return new Map(Object.entries(document.handlers as Record<string, Behaviour>));
}
