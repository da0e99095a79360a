import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { serverAddress } from './address.ts';
import { type FactCollection, Index, IndexedCollection } from './collection.ts';
import type { ExtensionConfigFacts, KnownExtensionConfig } from './facts.ts';
import { nonEmptyText, selectorOf } from './parts.ts';

function hooksOf(object: JsonObject): string[] {
  const hooks = new Set<string>();
  for (const handler of itemsAt(object, 'status', 'handlers')) {
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
    secret: nonEmptyText(object, 'metadata', 'annotations', injectCaFromSecretAnnotation),
    hooks: hooksOf(object),
  };
}

/** ExtensionConfigs (of any version: the fields in question have the same path) by name, address, hook and Secret. */
export function createExtensionConfigs(): { collection: FactCollection; facts: ExtensionConfigFacts } {
  const byAddress = new Index<KnownExtensionConfig>((item) => (item.address ? [[item.address, item]] : []));
  const bySecret = new Index<KnownExtensionConfig>((item) => (item.secret ? [[item.secret, item]] : []));
  const byHook = new Index<KnownExtensionConfig>((item) => item.hooks.map((hook) => [hook, item]));
  const collection = new IndexedCollection(reduce, [byAddress, bySecret, byHook]);
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
