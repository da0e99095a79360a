import { orAborted } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { type LabelSelector, labelSelectorProblems, selectsLabels } from '../../kubernetes/index.ts';
import { defaultTimeoutSeconds } from '../catalog/definition.ts';
import { aggregate, type CallError, type CallStep, isCallError, quotable } from './call-error.ts';

export type ClientConfig = NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>;

/** The parts of an ExtensionConfig that calls need. */
export interface Extension {
  name: string;
  /** Distinguishes an object that was created again from its predecessor. */
  uid: string;
  resourceVersion: string;
  clientConfig: ClientConfig;
  /** An absent selector matches nothing. */
  namespaceSelector: LabelSelector | undefined;
  settings: Readonly<Record<string, string>>;
}

export interface RegisteredHandler {
  /** `HANDLER.EXTENSIONCONFIG`. */
  name: string;
  group: string;
  version: string;
  hook: string;
  timeoutSeconds: number;
  failurePolicy: 'Fail' | 'Ignore';
  extension: Extension;
}

/** What calls need of a v1beta2 ExtensionConfig; absent fields are empty. */
export function extensionOf({ metadata, spec }: ExtensionConfig): Extension {
  const { uid, resourceVersion } = metadata as { uid?: unknown; resourceVersion?: unknown };
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  return {
    name: metadata.name ?? '',
    uid: text(uid),
    resourceVersion: text(resourceVersion),
    clientConfig: spec?.clientConfig ?? {},
    namespaceSelector: spec?.namespaceSelector as LabelSelector | undefined,
    settings: spec?.settings ?? {},
  };
}

/** As Kubernetes parses (`ParseGroupVersion`): without a slash, a version without a group; undefined for more parts. */
export function parseApiVersion(apiVersion: string): { group: string; version: string } | undefined {
  const [first = '', second, ...more] = apiVersion.split('/');
  if (more.length > 0) {
    return undefined;
  }
  return second === undefined ? { group: '', version: first } : { group: first, version: second };
}

/** Why Cluster API cannot use the namespaceSelector of an extension, in its words. */
export function selectorProblem(selector: LabelSelector | undefined): string | undefined {
  const [problem] = labelSelectorProblems(selector ?? {});
  return problem && `failed to create namespaceSelector: ${problem.path.join('.')}: ${problem.message}`;
}

const failure = (message: string): CallError => ({ step: 'registry', message });

function handlersOf(config: ExtensionConfig): RegisteredHandler[] | CallError {
  const extension = extensionOf(config);
  const prefix = `failed to add ExtensionConfig ${JSON.stringify(extension.name)} to registry`;
  const problem = selectorProblem(extension.namespaceSelector);
  if (problem !== undefined) {
    return failure(`${prefix}: ${problem}`);
  }
  const problems: string[] = [];
  const handlers: RegisteredHandler[] = [];
  for (const { name = '', requestHook, timeoutSeconds, failurePolicy } of config.status?.handlers ?? []) {
    const { apiVersion = '', hook = '' } = requestHook ?? {};
    const groupVersion = parseApiVersion(apiVersion);
    if (groupVersion === undefined) {
      const [of, version] = [name, apiVersion].map((text) => JSON.stringify(quotable(text)));
      problems.push(
        `failed to add extension handler ${of} to registry: failed to parse GroupVersion ${version} of handler ${of}: unexpected GroupVersion string: ${quotable(apiVersion)}`,
      );
      continue;
    }
    handlers.push({
      name,
      ...groupVersion,
      hook,
      timeoutSeconds: timeoutSeconds || defaultTimeoutSeconds,
      failurePolicy: failurePolicy === 'Ignore' ? 'Ignore' : 'Fail',
      extension,
    });
  }
  return problems.length === 0 ? handlers : failure(`${prefix}: ${aggregate(problems)}`);
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

/** Handlers of discovered extensions, by name and by hook. Errors are upstream's, as values. */
export class HandlerRegistry {
  readonly #byExtension = new Map<string, readonly RegisteredHandler[]>();
  /** All handlers; undefined after a change. */
  #handlers: ReadonlyMap<string, RegisteredHandler> | undefined;

  /** Extensions with at least one handler, sorted by name. */
  get extensions(): readonly Extension[] {
    return [...new Set([...this.#all().values()].map(({ extension }) => extension))].sort(byName);
  }

  /** Replaces the handlers of an ExtensionConfig with those in its status: all, or none. Upstream, one error stops the manager. */
  add(config: ExtensionConfig): CallError | undefined {
    const name = config.metadata.name ?? '';
    this.remove(name);
    const handlers = handlersOf(config);
    if (isCallError(handlers)) {
      return handlers;
    }
    this.#byExtension.set(name, handlers);
    return undefined;
  }

  /** Removes an ExtensionConfig; an unknown one is ignored. */
  remove(name: string): void {
    this.#byExtension.delete(name);
    this.#handlers = undefined;
  }

  get(name: string): RegisteredHandler | CallError {
    const quoted = JSON.stringify(name);
    return (
      this.#all().get(name) ??
      failure(
        `failed to get extension handler ${quoted} from registry: handler with name ${quoted} has not been registered`,
      )
    );
  }

  /** The handlers of a hook in any version, sorted by name. */
  list(group: string, hook: string): readonly RegisteredHandler[] {
    return [...this.#all().values()].filter((handler) => handler.group === group && handler.hook === hook).sort(byName);
  }

  #all(): ReadonlyMap<string, RegisteredHandler> {
    this.#handlers ??= new Map([...this.#byExtension.values()].flat().map((handler) => [handler.name, handler]));
    return this.#handlers;
  }
}

/** Returns the labels of a namespace; undefined if it does not exist. */
export type NamespaceLabels = (namespace: string) => Promise<Readonly<Record<string, string>> | undefined>;

async function labelsOf(
  namespace: string,
  namespaceLabels: NamespaceLabels | undefined,
  signal: AbortSignal | undefined,
): Promise<{ labels: Readonly<Record<string, string>> } | CallError> {
  const failed = (problem: string, step: CallStep = 'selector'): CallError => ({
    step,
    message: `failed to match namespace: failed to get namespace ${namespace}: ${problem}`,
  });
  if (namespaceLabels === undefined) {
    // Not as if it had no labels: extensions would be left out, and nobody would notice.
    return failed('this client cannot look up labels of namespaces; pass namespaceLabels to createClient');
  }
  try {
    const work = namespaceLabels(namespace);
    const labels = await (signal === undefined ? work : orAborted(work, signal));
    return labels === undefined ? failed(`Namespace ${JSON.stringify(namespace)} not found`) : { labels };
  } catch (error) {
    return signal?.aborted
      ? failed('context canceled', 'cancelled')
      : failed(error instanceof Error ? error.message : String(error));
  }
}

/** Tells whether an extension selects a namespace, which is looked up once, for the first selector with requirements. */
export function selectorFor(namespace: string, namespaceLabels: NamespaceLabels | undefined, signal?: AbortSignal) {
  let labels: ReturnType<typeof labelsOf> | undefined;
  return async ({ namespaceSelector: selector }: Extension): Promise<boolean | CallError> => {
    if (selector === undefined || Object.values(selector).every((part) => Object.keys(part ?? {}).length === 0)) {
      return selector !== undefined;
    }
    labels ??= labelsOf(namespace, namespaceLabels, signal);
    const ofNamespace = await labels;
    return isCallError(ofNamespace) ? ofNamespace : selectsLabels(selector, ofNamespace.labels);
  };
}
