import { defaultServicePort } from '../../../extensionconfig/index.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  isPortNumber,
  type JsonObject,
  parseRequestUri,
} from '../../../kubernetes/index.ts';
import { serverAddress } from '../../facts/store.ts';
import { isServiceDefined, namedService, type Service } from '../fields.ts';
import { overlapping, someOf } from '../related.ts';
import type { Rule, RuleOptions } from '../rule.ts';

/** A rule about one field of the Service, which `problemsOf` its value says what is wrong with. */
function serviceRule<Field extends keyof Service>({
  field,
  problemsOf,
  ...rule
}: Pick<Rule, 'id' | 'summary' | 'upstream'> & {
  field: Field;
  problemsOf(value: NonNullable<Service[Field]>, profile: RuleOptions['profile']): readonly string[];
}): Rule {
  return {
    ...rule,
    severity: 'deny',
    check({ object }, report, { profile }) {
      const service = object.spec?.clientConfig?.service;
      if (!isServiceDefined(service)) {
        return;
      }
      const path = ['spec', 'clientConfig', 'service', field];
      const isRequired = field === 'name' || field === 'namespace';
      const value = service[field] ?? (isRequired ? '' : undefined);
      if (value === '' && isRequired) {
        report({ path, reason: 'FieldValueRequired', message: `set the ${field} of the Service` });
      }
      const problems = value === undefined ? [] : problemsOf(value as NonNullable<Service[Field]>, profile);
      for (const message of problems) {
        report({ path, value, message });
      }
    },
  };
}

export const clientConfigRules: readonly Rule[] = [
  {
    id: 'client-config-target',
    summary: 'clientConfig has exactly one of url and service.',
    severity: 'deny',
    upstream: true,
    check({ object }, report) {
      const clientConfig = object.spec?.clientConfig;
      const hasService = isServiceDefined(clientConfig?.service);
      const path = ['spec', 'clientConfig'];
      if (!clientConfig?.url && !hasService) {
        const message = 'set url (a server outside the cluster) or service (a Service in it)';
        report({ path, reason: 'FieldValueRequired', message });
      } else if (clientConfig?.url && hasService) {
        const message = 'url and service are both set; keep one and remove the other';
        report({ path, reason: 'FieldValueForbidden', message });
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
        [...facts.extensionConfigs.values()].filter((config) => config.address === address),
        object,
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
  serviceRule({
    id: 'service-name',
    summary: 'service.name is set and is an RFC 1035 label, like every Service name.',
    upstream: true,
    field: 'name',
    problemsOf: dns1035LabelProblems,
  }),
  serviceRule({
    id: 'service-namespace',
    summary: 'service.namespace is set and is an RFC 1123 label.',
    upstream: true,
    field: 'namespace',
    problemsOf: dns1123LabelProblems,
  }),
  serviceRule({
    id: 'service-path',
    summary: 'service.path is a URL path that begins with "/".',
    upstream: true,
    field: 'path',
    problemsOf(path, profile) {
      if (path === '') {
        return [];
      }
      const uri = parseRequestUri(path);
      const unreadable = 'problem' in uri ? [`${uri.problem}; write a path like /runtime-extensions`] : [];
      // Cluster API says both of one mistake.
      const isSaid = unreadable.length > 0 && profile !== 'upstream';
      return path.startsWith('/') || isSaid
        ? unreadable
        : [...unreadable, 'must begin with "/"; the host comes from the Service and is not part of the path'];
    },
  }),
  serviceRule({
    id: 'service-port',
    summary: 'service.port is between 1 and 65535.',
    upstream: true,
    field: 'port',
    problemsOf: (port) => (isPortNumber(port) ? [] : ['must be a port number between 1 and 65535']),
  }),
  serviceRule({
    id: 'service-path-plain',
    summary: 'service.path has no query and no fragment: Cluster API appends the path of each hook to it.',
    field: 'path',
    problemsOf(path) {
      const mark = /[?#]/.exec(path)?.[0];
      const what = mark === '?' ? 'query' : 'fragment';
      return mark === undefined ? [] : [`has a ${what}; remove the "${mark}" and everything after it`];
    },
  }),
  {
    id: 'service-missing',
    summary: 'The Service exists.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts }, report) {
      const service = namedService(object);
      if (service !== undefined && facts?.services?.find(service.namespace, service.name) === 'absent') {
        report({
          path: ['spec', 'clientConfig', 'service', 'name'],
          reason: 'FieldValueNotFound',
          value: service.name,
          message: `there is no such Service; Cluster API will not report this: look with kubectl -n ${service.namespace} get services`,
        });
      }
    },
  },
  {
    id: 'service-port-missing',
    summary: 'The Service has the port.',
    severity: 'warn',
    needs: 'facts',
    check({ object, facts }, report) {
      const { namespace = '', name = '', port = defaultServicePort } = namedService(object) ?? {};
      const service = facts?.services?.find(namespace, name);
      if (typeof service === 'object' && service.ports.length > 0 && !service.ports.includes(port)) {
        report({
          path: ['spec', 'clientConfig', 'service', 'port'],
          reason: 'FieldValueNotFound',
          value: port,
          message: `the Service has no such TCP port, only ${someOf(service.ports.map(String))}: look with kubectl -n ${namespace} get service ${name}`,
        });
      }
    },
  },
];
