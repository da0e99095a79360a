import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import { labelSelectorProblems } from '../../../kubernetes/index.ts';
import { formatGroupHook } from '../../catalog/definition.ts';
import { aggregate, type CallError, isCallError, prefixed, quotable } from '../call-error.ts';
import {
  defaultTimeoutSeconds,
  type Extension,
  extensionOf,
  parseApiVersion,
  type RegisteredHandler,
} from './registration.ts';

/** Handlers of discovered extensions, by name and by hook. Errors are upstream's, as values. */
export interface HandlerRegistry {
  /**
   * Fills the registry for the first time. An ExtensionConfig that cannot be registered does not affect the others;
   * upstream, one such object stops the whole manager.
   *
   * @returns the errors, by ExtensionConfig.
   */
  warmUp(configs: Iterable<ExtensionConfig>): Map<string, CallError>;
  readonly isReady: boolean;
  /** Replaces the registered handlers of an ExtensionConfig with those in its status: all of them, or none. */
  add(config: ExtensionConfig): CallError | undefined;
  /** Removes an ExtensionConfig; an unknown one is ignored. */
  remove(name: string): CallError | undefined;
  get(name: string): RegisteredHandler | CallError;
  /** The handlers of a hook in any version, sorted by name. */
  list(group: string, hook: string): readonly RegisteredHandler[] | CallError;
  /** Extensions with at least one handler, sorted by name. */
  readonly extensions: readonly Extension[];
}

const failure = (message: string): CallError => ({ step: 'registry', message });

/** The error of an operation that a registry without its first handlers does not have. */
const cold = (what: string, operation: string) =>
  failure(
    `failed to ${what}: invalid operation: ${operation} cannot be called on a registry which has not been warmed up`,
  );

/** The handlers in the status of an ExtensionConfig, all of them or none. */
function handlersOf(config: ExtensionConfig): RegisteredHandler[] | CallError {
  const extension = extensionOf(config);
  const prefix = `failed to add ExtensionConfig ${JSON.stringify(extension.name)} to registry`;
  const problem = extension.namespaceSelector && labelSelectorProblems(extension.namespaceSelector, 1)[0];
  if (problem !== undefined) {
    return failure(`${prefix}: failed to create namespaceSelector: ${problem.path.join('.')}: ${problem.message}`);
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

const registryKey = (group: string, hook: string) => `${hook}.${group}`;

/** Creates an empty registry, which has to be warmed up. */
export function createRegistry(): HandlerRegistry {
  let isReady = false;
  const byName = new Map<string, RegisteredHandler>();
  const byExtension = new Map<string, readonly RegisteredHandler[]>();
  /** Sorted by name; a hook that has changed is sorted on the next access. */
  const byHook = new Map<string, Map<string, RegisteredHandler>>();
  const sorted = new Map<string, readonly RegisteredHandler[]>();

  function forget(name: string): void {
    for (const handler of byExtension.get(name) ?? []) {
      const key = registryKey(handler.group, handler.hook);
      byName.delete(handler.name);
      byHook.get(key)?.delete(handler.name);
      sorted.delete(key);
    }
    byExtension.delete(name);
  }

  function replace(config: ExtensionConfig): CallError | undefined {
    forget(config.metadata.name ?? '');
    const handlers = handlersOf(config);
    if (isCallError(handlers)) {
      return handlers;
    }
    for (const handler of handlers) {
      const key = registryKey(handler.group, handler.hook);
      const ofHook = byHook.get(key) ?? new Map<string, RegisteredHandler>();
      byHook.set(key, ofHook.set(handler.name, handler));
      byName.set(handler.name, handler);
      sorted.delete(key);
    }
    byExtension.set(config.metadata.name ?? '', handlers);
    return undefined;
  }

  return {
    get isReady() {
      return isReady;
    },
    get extensions() {
      return [...byExtension.values()]
        .flatMap(([handler]) => (handler === undefined ? [] : [handler.extension]))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    warmUp(configs) {
      if (isReady) {
        const message =
          'failed to warm up registry: invalid operation: WarmUp cannot be called on a registry which has already been warmed up';
        return new Map([['', failure(message)]]);
      }
      const errors = new Map<string, CallError>();
      for (const config of configs) {
        const error = replace(config);
        if (error !== undefined) {
          errors.set(config.metadata.name ?? '', error);
        }
      }
      isReady = true;
      return errors;
    },
    add(config) {
      const name = JSON.stringify(config.metadata.name);
      const error = isReady ? replace(config) : cold(`add ExtensionConfig ${name} to registry`, 'Add');
      return error && prefixed(`failed to register ExtensionConfig ${name}`, error);
    },
    remove(name) {
      if (!isReady) {
        const what = `ExtensionConfig ${JSON.stringify(name)}`;
        return prefixed(`failed to unregister ${what}`, cold(`remove ${what} from registry`, 'Remove'));
      }
      forget(name);
      return undefined;
    },
    get(name) {
      const quoted = JSON.stringify(name);
      const problem = isReady
        ? `handler with name ${quoted} has not been registered`
        : 'invalid operation: Get cannot be called on a registry not yet ready';
      return byName.get(name) ?? failure(`failed to get extension handler ${quoted} from registry: ${problem}`);
    },
    list(group, hook) {
      const missing = group === '' ? 'Group' : hook === '' ? 'Hook' : undefined;
      if (missing !== undefined) {
        return failure(
          `failed to list extension handlers: invalid argument: when calling List gh.${missing} must not be empty`,
        );
      }
      if (!isReady) {
        const gh = JSON.stringify(formatGroupHook({ group, name: hook }));
        return cold(`list extension handlers for GroupHook ${gh}`, 'List');
      }
      const key = registryKey(group, hook);
      const known = sorted.get(key);
      if (known !== undefined) {
        return known;
      }
      const handlers = [...(byHook.get(key)?.values() ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
      sorted.set(key, handlers);
      return handlers;
    },
  };
}
