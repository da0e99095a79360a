import type { JsonObject } from '../../../kubernetes/index.ts';
import { serverAddress } from '../../facts/address.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { namespaceSelectorOf } from '../fields/namespace-selector.ts';
import { overlapping, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

export const rule: Rule = {
  id: 'server-registered-twice',
  summary: 'No other ExtensionConfig registers the same server for the same namespaces.',
  severity: 'warn',
  upstream: false,
  subjects: ['object'],
  about: 'facts',
  check({ object, facts }, report) {
    const clientConfig = object.spec?.clientConfig as JsonObject | undefined;
    const address = serverAddress(clientConfig);
    if (facts?.extensionConfigs === undefined || address === undefined) {
      return;
    }
    const others = overlapping(
      facts.extensionConfigs.byAddress(address),
      object.metadata.name,
      namespaceSelectorOf(object),
    );
    if (others.length > 0) {
      report({
        path: ['spec', 'clientConfig'],
        reason: 'FieldValueDuplicate',
        value: address,
        message: `is registered by ${someOf(others)} too, so every hook is called twice; delete one, or make their namespaceSelectors exclude each other`,
      });
    }
  },
  example: {
    context: [example({ name: 'other-extension', clientConfig: { url: 'https://my-extension.capi-extensions.svc' } })],
    bad: example(),
    good: example({ clientConfig: { service: { ...exampleService, path: '/second' } } }),
  },
};
