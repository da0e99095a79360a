import type { JsonObject } from '../../../kubernetes/index.ts';
import { serverAddress } from '../../facts/store.ts';
import { isServiceDefined } from '../fields/service.ts';
import { overlapping, someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

export const clientConfigRules: readonly Rule[] = [
  {
    id: 'client-config-target',
    summary: 'clientConfig has exactly one of url and service.',
    severity: 'deny',
    upstream: true,
    check({ object }, report) {
      const clientConfig = object.spec?.clientConfig;
      const hasService = isServiceDefined(clientConfig?.service);
      if (!clientConfig?.url && !hasService) {
        report({
          path: ['spec', 'clientConfig'],
          reason: 'FieldValueRequired',
          message: 'set url (a server outside the cluster) or service (a Service in it)',
        });
      } else if (clientConfig?.url && hasService) {
        report({
          path: ['spec', 'clientConfig'],
          reason: 'FieldValueForbidden',
          message: 'url and service are both set; keep one and remove the other',
        });
      }
    },
  },
  {
    id: 'server-registered-twice',
    summary: 'No other ExtensionConfig registers the same server for the same namespaces.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts }, report) {
      const clientConfig = object.spec?.clientConfig as JsonObject | undefined;
      const address = serverAddress(clientConfig);
      if (facts?.extensionConfigs === undefined || address === undefined) {
        return;
      }
      const others = overlapping(
        facts.extensionConfigs.values().filter((config) => config.address === address),
        object.metadata.name,
        object.spec?.namespaceSelector,
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
  },
];
