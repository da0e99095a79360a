import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { serverAddress } from './address.ts';
import { type FactCollection, IndexedCollection } from './collection.ts';
import type { ExtensionConfigFacts, KnownExtensionConfig } from './facts.ts';
import { Multimap } from './multimap.ts';
import { nonEmptyText, selectorOf } from './parts.ts';

function hooksOf(object: JsonObject): string[] {
  const hooks = new Set<string>();
  for (const handler of itemsAt(objectAt(object, 'status'), 'handlers')) {
    const requestHook = objectAt(handler, 'requestHook');
    const [group, version] = (nonEmptyText(requestHook, 'apiVersion') ?? '').split('/', 2);
    const hook = nonEmptyText(requestHook, 'hook');
    if (hook !== undefined && group !== '' && version !== undefined) {
      hooks.add(`${hook}.${group}`);
    }
  }
  return [...hooks];
}

function reduce(name: string, object: JsonObject): KnownExtensionConfig {
  const spec = objectAt(object, 'spec');
  return {
    name,
    address: serverAddress(objectAt(spec, 'clientConfig')),
    namespaceSelector: selectorOf(spec.namespaceSelector),
    secret: nonEmptyText(objectAt(objectAt(object, 'metadata'), 'annotations'), injectCaFromSecretAnnotation),
    hooks: hooksOf(object),
  };
}

/** ExtensionConfigs (of any version: the fields in question have the same path) by name, address, hook and Secret. */
export function createExtensionConfigs(): { collection: FactCollection; facts: ExtensionConfigFacts } {
  const byAddress = new Multimap<KnownExtensionConfig>();
  const byHook = new Multimap<KnownExtensionConfig>();
  const bySecret = new Multimap<KnownExtensionConfig>();
  const collection = new IndexedCollection<KnownExtensionConfig>({
    reduce,
    add(item) {
      if (item.address !== undefined) {
        byAddress.add(item.address, item);
      }
      if (item.secret !== undefined) {
        bySecret.add(item.secret, item);
      }
      for (const hook of item.hooks) {
        byHook.add(hook, item);
      }
    },
    remove(item) {
      if (item.address !== undefined) {
        byAddress.delete(item.address, item);
      }
      if (item.secret !== undefined) {
        bySecret.delete(item.secret, item);
      }
      for (const hook of item.hooks) {
        byHook.delete(hook, item);
      }
    },
  });
  return {
    collection,
    facts: {
      find: (name) => collection.get(name),
      byAddress: (address) => byAddress.get(address),
      byHook: (hook) => byHook.get(hook),
      bySecret: (secret) => bySecret.get(secret),
    },
  };
}
