import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { UsageError } from '../../base/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import { onlyValue } from '../../kubernetes/manifests/index.ts';
import { fieldOf, prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';
import type { BlockingAnswers } from '../sdk/handlers/answer.ts';
import type { Handler } from '../sdk/handlers/handler.ts';
import { createHostedExtension, type ExtensionServer, type HostedExtensionOptions } from '../sdk/server.ts';
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

type Behaviours = ReadonlyMap<string, Behaviour>;

const maxFileLength = 256 * 1024;
const maxSeconds = 3600;

const times = { type: 'integer', minimum: 1, maximum: 1_000_000 };
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
  return `${path.slice(0, 200)} is not known; it must be one of ${names}`;
}

/** Reads a file with `handlers`, behaviours by the names of the sample's. @throws {UsageError} with all problems. */
export function readBehaviours(yaml: string): Behaviours {
  const document = onlyValue(yaml, maxFileLength);
  if (!isJsonObject(document)) {
    throw new UsageError('it must have one field, handlers, with a behaviour for each handler that it names');
  }
  const ofHandlers = Object.fromEntries(handlers.map(({ name, hook }) => [name, behaviour(hook.isBlocking)]));
  const schema = object({ handlers: object(ofHandlers) }, ['handlers']);
  const problems = [
    ...prune(document, schema, false).map((path) => unknownField(path, schema)),
    ...validateSchema(document, schema).map(({ field, message }) => `${field}: ${message}`),
  ];
  if (problems.length > 0) {
    throw new UsageError(problems.slice(0, 20).join('; '));
  }
  return new Map(Object.entries(document.handlers as Record<string, Behaviour>));
}

interface SampleOptions extends Omit<HostedExtensionOptions, 'handlers'> {
  behaviours?: Behaviours;
}

function behaving(handler: Handler, behaviours: Behaviours): Handler {
  const behaviour = behaviours.get(handler.name);
  if (behaviour === undefined) {
    return handler;
  }
  const { hang, delaySeconds, fail, block } = behaviour;
  // The Clusters that were called last.
  const counts = new LRUCache<string, number>({ max: 20_000 });
  const hasTurn = (key: string, times = Number.POSITIVE_INFINITY) => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return (counts.get(key) ?? 0) <= times;
  };
  return {
    ...handler,
    async handle(request, context) {
      const { answer, signal, cluster = '' } = context;
      if (hang === true) {
        return new Promise(() => {});
      }
      if (delaySeconds !== undefined) {
        await sleep(delaySeconds * 1000, undefined, { signal });
      }
      if (fail !== undefined && hasTurn(`fail ${cluster}`, fail.times)) {
        return answer.fail(fail.message);
      }
      if (block !== undefined && 'retry' in answer && hasTurn(`block ${cluster}`, block.times)) {
        return (answer as BlockingAnswers<unknown>).retry(block.retryAfterSeconds, block.message);
      }
      return handler.handle(request, context);
    },
  };
}

/** Creates the sample extension: a handler for each hook, which behaves as configured. */
export function createSampleExtension({ behaviours = new Map(), ...options }: SampleOptions = {}): ExtensionServer {
  return createHostedExtension({ ...options, handlers: handlers.map((handler) => behaving(handler, behaviours)) });
}
