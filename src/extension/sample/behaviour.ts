import { parseSmallYaml, YamlError } from '../../base/index.ts';
import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';

/** What a handler does in place of its work, in the order of these fields. */
interface Behaviour {
  /** Never answers: the server's own 504, half a second after the caller has given up, comes too late. */
  hang?: boolean;
  /** Waits before it answers, in seconds. */
  delaySeconds?: number;
  /** Answers with this text, which need not be JSON. */
  garbage?: string;
  /** HTTP status of the answer. */
  code?: number;
  /** Fails: for the first calls of each Cluster, or always. */
  fail?: { message: string; times?: number };
  /** Blocks: for the first calls of each Cluster (not counting those that failed), or always. */
  block?: { retryAfterSeconds: number; message: string; times?: number };
}

/** Behaviours by handler name. */
export type Behaviours = ReadonlyMap<string, Behaviour>;

/** An unusable behaviour file: all problems at once, one per line. */
export class BehaviourError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Longest file that is read, in characters. */
const maxFileLength = 256 * 1024;
const maxSeconds = 3600;
const maxTimes = 1_000_000;

type Reader = (value: Json | undefined, field: string, problems: string[]) => unknown;

const number =
  (min: number, max: number, isWhole: boolean): Reader =>
  (value, field, problems) => {
    if (typeof value === 'number' && value >= min && value <= max && (!isWhole || Number.isInteger(value))) {
      return value;
    }
    problems.push(`${field} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}, not ${shown(value)}`);
    return undefined;
  };

const text: Reader = (value, field, problems) => {
  if (typeof value === 'string') {
    return value;
  }
  problems.push(`${field} must be a text, not ${shown(value)}`);
  return undefined;
};

const boolean: Reader = (value, field, problems) => {
  if (typeof value === 'boolean') {
    return value;
  }
  problems.push(`${field} must be true or false, not ${shown(value)}`);
  return undefined;
};

const shown = (value: Json | undefined) => (value === undefined ? 'absent' : JSON.stringify(value).slice(0, 60));

function fields(readers: Record<string, Reader>, required: readonly string[] = []): Reader {
  return (value, field, problems) => {
    if (!isJsonObject(value)) {
      problems.push(`${field} must have fields: ${Object.keys(readers).join(', ')}`);
      return undefined;
    }
    const result: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(value)) {
      const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
      if (reader === undefined) {
        problems.push(
          `${field}.${name.slice(0, 60)} is not known; it must be one of ${Object.keys(readers).join(', ')}`,
        );
      } else {
        result[name] = reader(inner, `${field}.${name}`, problems);
      }
    }
    for (const name of required.filter((one) => value[one] === undefined)) {
      problems.push(`${field}.${name} must be set`);
    }
    return result;
  };
}

const behaviour = (canBlock: boolean) =>
  fields({
    hang: boolean,
    delaySeconds: number(0, maxSeconds, false),
    garbage: text,
    code: number(200, 599, true),
    fail: fields({ message: text, times: number(1, maxTimes, true) }, ['message']),
    ...(canBlock && {
      block: fields(
        { retryAfterSeconds: number(1, maxSeconds, true), message: text, times: number(1, maxTimes, true) },
        ['retryAfterSeconds', 'message'],
      ),
    }),
  });

/**
 * Parses a behaviour file:
 *
 * ```yaml
 * handlers:
 *   before-cluster-upgrade:
 *     block: { times: 3, retryAfterSeconds: 5, message: backups run }
 * ```
 *
 * @param handlers the names of the handlers, and whether each can block.
 * @throws {BehaviourError} with all problems of the file.
 */
export function parseBehaviours(yaml: string, handlers: ReadonlyMap<string, boolean>): Behaviours {
  let document: unknown;
  try {
    document = parseSmallYaml(yaml, maxFileLength);
  } catch (error) {
    if (error instanceof YamlError) {
      throw new BehaviourError([error.message]);
    }
    throw error;
  }
  const named = isJsonObject(document) ? (document as JsonObject).handlers : undefined;
  if (!isJsonObject(document) || !isJsonObject(named) || Object.keys(document).length !== 1) {
    throw new BehaviourError(['it must have one field, handlers, with a behaviour for each handler that it names']);
  }
  const problems: string[] = [];
  const result = new Map<string, Behaviour>();
  for (const [name, value] of Object.entries(named)) {
    const canBlock = handlers.get(name);
    if (canBlock === undefined) {
      problems.push(
        `handlers.${name.slice(0, 60)} is not a handler; the handlers are ${[...handlers.keys()].join(', ')}`,
      );
    } else {
      result.set(name, behaviour(canBlock)(value, `handlers.${name}`, problems) as Behaviour);
    }
  }
  if (problems.length > 0) {
    throw new BehaviourError(problems.slice(0, 20));
  }
  return result;
}
