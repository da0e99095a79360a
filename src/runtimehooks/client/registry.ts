import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { type LabelSelector, labelSelectorProblems } from '../../kubernetes/index.ts';
import { defaultTimeoutSeconds } from '../catalog/limits.ts';
import { aggregate, type CallError, isCallError, quotable } from './call-error.ts';

/** The address of an extension server. */
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

/** A handler of an extension server, from discovery. */
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

/** The extension described by a v1beta2 ExtensionConfig. */
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

/**
 * The group and version of an `apiVersion`, as Kubernetes reads it (`ParseGroupVersion` of apimachinery): without a slash
 * it is a version without a group. Undefined for more than two parts.
 */
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

/** The handlers in the status of an ExtensionConfig, all of them or none. */
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

  /**
   * Replaces the registered handlers of an ExtensionConfig with those in its status: all of them, or none. One that cannot be
   * registered does not affect the others; upstream, one such object stops the whole manager.
   */
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
