import { type ExtensionConfig, extensionOfHandler } from '../../extensionconfig/index.ts';
import { type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import {
  type CallError,
  createClusterApiClient,
  isCallError,
  onlyHandlerFor,
  type Resolve,
} from '../../runtimehooks/client/index.ts';
import { type HookDefinition, hooks, type Release } from '../../runtimehooks/index.ts';
import { type HookAnswer, type HookCall, NotKnown } from '../../topology/index.ts';

export interface StateExtensions {
  configs: readonly ExtensionConfig[];
  /** Labels of Namespaces, by name, for namespaceSelectors. */
  namespaceLabels: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** ExtensionConfigs that Cluster API has not discovered, by name, with the reasons: it does not call them. */
  undiscovered?: ReadonlyMap<string, string> | undefined;
  /** Whether the handlers in the status of the ExtensionConfigs are taken, as Cluster API does, without discovery. */
  isDiscovered?: boolean | undefined;
}

interface CallerOptions {
  before: StateExtensions;
  after: StateExtensions;
  release: Release;
  /** That of the state before, if Cluster API is upgraded. Default: the same. */
  releaseBefore?: Release | undefined;
  resolve?: Resolve | undefined;
  /** Ends calls. What a signal of a timeout ends is not known; other signals are thrown. */
  signal: AbortSignal;
  onCall?: (() => void) | undefined;
}

/** Steps at which a call failed though the extension answered: Cluster API would show the error. */
const answeredSteps: ReadonlySet<CallError['step']> = new Set(['status', 'validation', 'decode', 'size', 'hook']);

/** Whether an ExtensionConfig has a handler that is asked if Machines can be updated in place. */
export const offersUpdates = (config: { status?: unknown }): boolean =>
  objectsAt(config as JsonObject, 'status', 'handlers').some(({ requestHook }) =>
    ['CanUpdateMachine', 'CanUpdateMachineSet'].includes(textAt(requestHook, 'hook')),
  );

/** The extensions of one state: those that answered discovery, and why the others did not. */
async function connect(state: 'before' | 'after', options: CallerOptions) {
  const { configs, namespaceLabels, isDiscovered, undiscovered } = options[state];
  const client = createClusterApiClient({
    resolve: options.resolve,
    release: state === 'before' ? (options.releaseBefore ?? options.release) : options.release,
    namespaceLabels: async (name) => ({ 'kubernetes.io/metadata.name': name, ...namespaceLabels.get(name) }),
  });
  const silent = new Map<string, string>();
  async function discovered(config: ExtensionConfig): Promise<ExtensionConfig[]> {
    const discovery = await client.discover(config, { signal: options.signal });
    if (discovery.ok) {
      return [{ ...config, status: { ...config.status, handlers: discovery.handlers } }];
    }
    silent.set(config.metadata.name ?? '', discovery.error.message);
    return [];
  }
  const registered = isDiscovered ? configs : (await Promise.all(configs.map(discovered))).flat();
  for (const config of registered) {
    const error = client.registry.add(config);
    if (error !== undefined) {
      silent.set(config.metadata.name ?? '', error.message);
    }
  }
  return { client, silent, undiscovered, configs: registered };
}

type Connected = Awaited<ReturnType<typeof connect>>;

const unknown = (why: string, extension: string, remedy: string) =>
  new NotKnown(why, { remedy, object: `ExtensionConfig ${extension}` });

const definitionOf = (hook: HookCall['hook']) =>
  hooks[hook] as HookDefinition<object, object> as HookDefinition<JsonObject, JsonObject>;

/** The handler that a call names, or the one that is registered for the hook; else the answer. */
async function handlerFor(
  { client, silent, undiscovered, configs }: Connected,
  call: HookCall,
): Promise<string | HookAnswer> {
  const named = call.handler === '' ? undefined : extensionOfHandler(call.handler);
  // Any extension may have a handler of the hook.
  const missing = [...silent].find(([name]) => named === undefined || name === named);
  if (missing !== undefined) {
    const [name, error] = missing;
    throw unknown(`extension ${name} did not answer: ${error}`, name, 'start it, or name its address with --resolve');
  }
  if (named !== undefined) {
    const reason = undiscovered?.get(named);
    if (reason !== undefined) {
      const why = `the handler ${call.handler} is not called: Cluster API has not discovered ExtensionConfig ${named} (${reason})`;
      throw unknown(why, named, 'doctor says why');
    }
    if (!configs.some(({ metadata }) => metadata.name === named)) {
      const why = `the handler ${call.handler} could not be called: ExtensionConfig ${named} is not among the files`;
      throw unknown(why, named, 'pass it with -f');
    }
    return call.handler;
  }
  const only = await onlyHandlerFor(client, definitionOf(call.hook), call.object);
  return isCallError(only) ? { is: 'failed', error: only.message } : (only ?? { is: 'none' });
}

async function callOne(connected: Connected, call: HookCall, signal: AbortSignal): Promise<HookAnswer> {
  const handler = await handlerFor(connected, call);
  if (typeof handler !== 'string') {
    return handler;
  }
  const { object, request } = call;
  const result = await connected.client.callExtension(definitionOf(call.hook), { handler, object, request, signal });
  if (result.ok && result.swallowed === undefined) {
    return { is: 'answered', response: result.response, handler };
  }
  const error = result.ok ? result.swallowed : result.error;
  if (error !== undefined && answeredSteps.has(error.step)) {
    return { is: 'failed', error: error.message };
  }
  const why = `handler ${handler} did not answer${error?.step === 'timeout' ? ' in time' : `: ${error?.message}`}`;
  throw unknown(why, extensionOfHandler(handler), 'start the extension, and plan again');
}

/** Calls the extensions of both states as Cluster API does; what does not answer is not known. To be disposed. */
export async function createPlanCaller(options: CallerOptions) {
  const before = await connect('before', options);
  const isSame = options.after === options.before && options.releaseBefore === undefined;
  const after = isSame ? before : await connect('after', options);
  return {
    updatesInPlace: after.configs.some(offersUpdates),
    async call(call: HookCall): Promise<HookAnswer> {
      const connected = call.state === 'before' ? before : after;
      try {
        return await callOne(connected, call, options.signal);
      } finally {
        options.onCall?.();
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([before.client.close(), after.client.close()]);
    },
  };
}
