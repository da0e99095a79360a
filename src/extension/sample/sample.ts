import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { UsageError } from '../../base/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import { onlyValue } from '../../kubernetes/manifests/index.ts';
import { fieldOf, prune, type Schema, validateSchema } from '../../kubernetes/schema/index.ts';
import { hooks } from '../../runtimehooks/index.ts';
import type { BlockingAnswers, FinalAnswers, HookName } from '../sdk/handlers/answer.ts';
import { type Handler, handler } from '../sdk/handlers/handler.ts';
import { createJobs } from '../sdk/jobs/jobs.ts';
import { defineInPlaceChanges } from '../sdk/objects/in-place.ts';
import { createHostedExtension, type ExtensionServer, type HostedExtensionOptions } from '../sdk/server.ts';
import { defineVariables, setField, walkTemplates } from '../sdk/topology/index.ts';
import { planUpgrade } from '../sdk/upgrade-plan.ts';

const updateSeconds = 2;

const updates = createJobs({
  retryAfterSeconds: 1,
  run: (_, signal) => sleep(updateSeconds * 1000, undefined, { signal }),
});

/** The sample's variable, which becomes a label of the objects made of templates. */
const variables = defineVariables({
  sampleLabel: {
    schema: {
      type: 'string',
      description: 'Value of the label sample-extension of all objects that are created from templates.',
      maxLength: 63,
    },
  },
});

const changes = defineInPlaceChanges({ machine: ['spec.version', 'spec.failureDomain'] });

/** The handlers of the hooks that ask for more than agreement, named as those of Cluster API's own test extension. */
const working: readonly Handler[] = [
  handler('GeneratePatches', {
    name: 'generate-patches',
    handle: (request, { answer, log }) => {
      const items = walkTemplates(
        request,
        [
          {
            mutate(template, { values: { sampleLabel } }) {
              if (sampleLabel !== undefined) {
                setField(template, 'spec.template.metadata.labels["sample-extension"]', sampleLabel);
              }
            },
          },
        ],
        { variables, log },
      );
      return answer.done({ items });
    },
  }),
  handler('DiscoverVariables', {
    name: 'discover-variables',
    handle: (_, { answer }) => answer.done({ variables: variables.definitions }),
  }),
  handler('CanUpdateMachine', {
    name: 'can-update-machine',
    handle: (request, { answer }) => answer.done(changes.machinePatches(request)),
  }),
  handler('CanUpdateMachineSet', {
    name: 'can-update-machineset',
    handle: (request, { answer }) => answer.done(changes.machineSetPatches(request)),
  }),
  handler('UpdateMachine', {
    name: 'update-machine',
    handle: ({ desired: { machine } }, context) =>
      updates.answer(context, {
        key: machine.spec.version ?? 'no version',
        message: 'the machine is being updated',
      }),
  }),
  handler('GenerateUpgradePlan', {
    name: 'generate-upgrade-plan',
    handle: (request, { answer }) => answer.done(planUpgrade(request)),
  }),
];

const names = Object.keys(hooks).filter((name) => name !== 'Discovery') as HookName[];

/**
 * The handlers of the sample extension, one for each hook. They agree to everything; what is made of templates gets a
 * label if a Cluster asks for it.
 */
export const handlers: readonly Handler[] = names.map(
  (hook) =>
    working.find((one) => one.hook.name === hook) ??
    handler(hook, {
      name: hook.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase(),
      handle: (_, { answer }) => (answer as FinalAnswers<never>).done(),
    }),
);

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
