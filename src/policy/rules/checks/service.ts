import { defaultServicePort } from '../../../extensionconfig/index.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  isPortNumber,
  parseRequestUri,
} from '../../../kubernetes/index.ts';
import { exampleServiceObject } from '../examples/cluster.ts';
import { example, exampleService } from '../examples/manifest.ts';
import { checkServiceLabel, namedService } from '../fields/service.ts';
import { someOf } from '../related.ts';
import type { Rule } from '../rule.ts';

export const serviceRules: readonly Rule[] = [
  {
    id: 'service-name',
    summary: 'service.name is set and is an RFC 1035 label, like every Service name.',
    severity: 'deny',
    upstream: true,
    about: 'service',
    check({ object }, report) {
      checkServiceLabel(object, 'name', dns1035LabelProblems, report);
    },
    example: {
      bad: example({ clientConfig: { service: { ...exampleService, name: '1st-extension' } } }),
      good: example({ clientConfig: { service: { ...exampleService, name: 'first-extension' } } }),
    },
  },
  {
    id: 'service-namespace',
    summary: 'service.namespace is set and is an RFC 1123 label.',
    severity: 'deny',
    upstream: true,
    about: 'service',
    check({ object }, report) {
      checkServiceLabel(object, 'namespace', dns1123LabelProblems, report);
    },
    example: {
      bad: example({ clientConfig: { service: { ...exampleService, namespace: 'CAPI_Extensions' } } }),
      good: example({ clientConfig: { service: { ...exampleService, namespace: 'capi-extensions' } } }),
    },
  },
  {
    id: 'service-path',
    summary: 'service.path is a URL path that begins with "/".',
    severity: 'deny',
    upstream: true,
    about: 'service',
    check({ object }, report) {
      const value = object.spec?.clientConfig?.service?.path;
      if (!value) {
        return;
      }
      const path = ['spec', 'clientConfig', 'service', 'path'];
      const uri = parseRequestUri(value);
      if ('problem' in uri) {
        report({
          path,
          reason: 'FieldValueInvalid',
          value,
          message: `${uri.problem}; write a path like /runtime-extensions`,
        });
      }
      if (!value.startsWith('/')) {
        const message = 'must begin with "/"; the host comes from the Service and is not part of the path';
        report({ path, reason: 'FieldValueInvalid', value, message });
      }
    },
    example: {
      bad: example({ clientConfig: { service: { ...exampleService, path: 'runtime-extensions/' } } }),
      good: example({ clientConfig: { service: { ...exampleService, path: '/runtime-extensions/' } } }),
    },
  },
  {
    id: 'service-port',
    summary: 'service.port is between 1 and 65535.',
    severity: 'deny',
    upstream: true,
    about: 'service',
    check({ object }, report) {
      const port = object.spec?.clientConfig?.service?.port;
      if (port !== undefined && !isPortNumber(port)) {
        report({
          path: ['spec', 'clientConfig', 'service', 'port'],
          reason: 'FieldValueInvalid',
          value: port,
          message: 'must be a port number between 1 and 65535',
        });
      }
    },
    example: {
      bad: example({ clientConfig: { service: { ...exampleService, port: 65536 } } }),
      good: example({ clientConfig: { service: { ...exampleService, port: 8443 } } }),
    },
  },
  {
    id: 'service-path-plain',
    summary: 'service.path has no query and no fragment: Cluster API appends the path of each hook to it.',
    severity: 'deny',
    about: 'service',
    check({ object }, report) {
      const value = object.spec?.clientConfig?.service?.path ?? '';
      const mark = /[?#]/.exec(value)?.[0];
      if (mark !== undefined) {
        const what = mark === '?' ? 'query' : 'fragment';
        report({
          path: ['spec', 'clientConfig', 'service', 'path'],
          reason: 'FieldValueInvalid',
          value,
          message: `has a ${what}; remove the "${mark}" and everything after it`,
        });
      }
    },
    example: {
      bad: example({ clientConfig: { service: { ...exampleService, path: '/hooks?tenant=a' } } }),
      good: example({ clientConfig: { service: { ...exampleService, path: '/hooks' } } }),
    },
  },
  {
    id: 'service-missing',
    summary: 'The Service exists.',
    severity: 'warn',
    about: 'facts',
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
    example: {
      context: [exampleServiceObject],
      bad: example({ clientConfig: { service: { ...exampleService, name: 'my-extensoin' } } }),
      good: example(),
    },
  },
  {
    id: 'service-port-missing',
    summary: 'The Service has the port.',
    severity: 'warn',
    about: 'facts',
    check({ object, facts }, report) {
      const named = namedService(object);
      if (named === undefined) {
        return;
      }
      const service = facts?.services?.find(named.namespace, named.name);
      const port = named.port ?? defaultServicePort;
      if (service === undefined || service === 'absent' || service.ports.length === 0 || service.ports.includes(port)) {
        return;
      }
      report({
        path: ['spec', 'clientConfig', 'service', 'port'],
        reason: 'FieldValueNotFound',
        value: port,
        message: `the Service has no such TCP port, only ${someOf(service.ports.map(String))}: look with kubectl -n ${named.namespace} get service ${named.name}`,
      });
    },
    example: {
      context: [exampleServiceObject],
      bad: example({ clientConfig: { service: { ...exampleService, port: 9443 } } }),
      good: example(),
    },
  },
];
