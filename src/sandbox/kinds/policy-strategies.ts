import { isIP } from 'node:net';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { forbiddenField, invalid, notSupported, required } from '../../kubernetes/schema/index.ts';
import type { KindStrategy } from '../resources/resource.ts';
import { immutableCauses, selectorCauses } from './field-causes.ts';

function isCidr(value: Json | undefined): boolean {
  const [address = '', bits = '', ...more] = String(value).split('/');
  const version = isIP(address);
  return version !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

function* peerCauses(peer: JsonObject, field: string): Generator<StatusCause> {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  yield* selectorCauses(podSelector, `${field}.podSelector`);
  yield* selectorCauses(namespaceSelector, `${field}.namespaceSelector`);
  if (ipBlock === undefined && podSelector === undefined && namespaceSelector === undefined) {
    yield required(field, 'must specify a peer');
  }
  if (isJsonObject(ipBlock)) {
    if (podSelector !== undefined || namespaceSelector !== undefined) {
      yield forbiddenField(field, 'may not specify both ipBlock and another peer');
    }
    if (ipBlock.cidr !== undefined && !isCidr(ipBlock.cidr)) {
      yield invalid(`${field}.ipBlock.cidr`, ipBlock.cidr, 'must be a valid CIDR value, (e.g. 10.9.8.0/24)');
    }
  }
}

/** Network policies (kubernetes, pkg/apis/networking/validation, ValidateNetworkPolicySpec). */
export const networkPolicyStrategy: KindStrategy = {
  prepare({ spec }) {
    if (isJsonObject(spec)) {
      spec.policyTypes ??= objectsAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
    }
  },
  *validate({ spec }) {
    yield* selectorCauses(objectAt(spec).podSelector, 'spec.podSelector');
    for (const [direction, peers] of [
      ['ingress', 'from'],
      ['egress', 'to'],
    ] as const) {
      for (const [index, rule] of objectsAt(spec, direction).entries()) {
        for (const [at, { port, endPort }] of objectsAt(rule, 'ports').entries()) {
          const field = `spec.${direction}[${index}].ports[${at}].endPort`;
          if (endPort !== undefined && typeof port !== 'number') {
            yield invalid(field, endPort, 'may not be specified when `port` is non-numeric or not specified');
          } else if (Number(endPort) < Number(port)) {
            yield invalid(field, endPort, 'must be greater than or equal to `port`');
          }
        }
        for (const [at, peer] of objectsAt(rule, peers).entries()) {
          yield* peerCauses(peer, `spec.${direction}[${index}].${peers}[${at}]`);
        }
      }
    }
  },
};

/** Pod disruption budgets (kubernetes, pkg/apis/policy/validation, ValidatePodDisruptionBudgetSpec). */
export const disruptionBudgetStrategy: KindStrategy = {
  *validate({ spec }) {
    const { minAvailable, maxUnavailable, selector } = objectAt(spec);
    yield* selectorCauses(selector, 'spec.selector');
    if (minAvailable !== undefined && maxUnavailable !== undefined) {
      yield invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set');
    }
    for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
      if (typeof value === 'string' && Number.parseInt(value, 10) > 100) {
        yield invalid(`spec.${field}`, value, 'must not be greater than 100%');
      }
    }
  },
};

/** Largest value of a priority class that is not one of the system's (kubernetes, HighestUserDefinablePriority). */
const maxPriority = 1_000_000_000;

/** Priority classes (kubernetes, pkg/apis/scheduling/validation, ValidatePriorityClass). */
export const priorityClassStrategy: KindStrategy = {
  *validate(object, old) {
    const { value } = object;
    yield* immutableCauses(object, old, ['preemptionPolicy']);
    if (old !== undefined && value !== old.value) {
      yield forbiddenField('value', 'may not be changed in an update.');
    }
    if (String(objectAt(object, 'metadata').name).startsWith('system-')) {
      yield forbiddenField(
        'metadata.name',
        "priority class names with 'system-' prefix are reserved for system use only",
      );
    }
    if (Number(value) > maxPriority) {
      yield forbiddenField('value', `maximum allowed value of a user defined priority is ${maxPriority}`);
    }
  },
};

const rbac = 'rbac.authorization.k8s.io';

/** Roles and ClusterRoles (kubernetes, pkg/apis/rbac/validation, ValidatePolicyRule). */
export const roleStrategy: KindStrategy = {
  nameFormat: 'path',
  *validate(role) {
    for (const [index, rule] of objectsAt(role, 'rules').entries()) {
      const field = `rules[${index}]`;
      const has = (list: string) => Array.isArray(rule[list]) && rule[list].length > 0;
      if (rule.verbs !== undefined && !has('verbs')) {
        yield required(`${field}.verbs`, 'verbs must contain at least one value');
      }
      if (has('nonResourceURLs')) {
        const urls = rule.nonResourceURLs;
        if (role.kind === 'Role') {
          yield invalid(`${field}.nonResourceURLs`, urls, 'namespaced rules cannot apply to non-resource URLs');
        }
        if (has('apiGroups') || has('resources') || has('resourceNames')) {
          const why = 'rules cannot apply to both regular resources and non-resource URLs';
          yield invalid(`${field}.nonResourceURLs`, urls, why);
        }
        continue;
      }
      if (!has('apiGroups')) {
        yield required(`${field}.apiGroups`, 'resource rules must supply at least one api group');
      }
      if (!has('resources')) {
        yield required(`${field}.resources`, 'resource rules must supply at least one resource');
      }
    }
  },
};

/** RoleBindings and ClusterRoleBindings (kubernetes, pkg/apis/rbac/validation, ValidateRoleBinding). */
export const bindingStrategy: KindStrategy = {
  nameFormat: 'path',
  prepare(object) {
    for (const subject of objectsAt(object, 'subjects')) {
      // That of a ServiceAccount is empty, and an empty one is not written.
      if (subject.kind !== 'ServiceAccount') {
        subject.apiGroup ??= rbac;
      } else if (subject.apiGroup === '') {
        delete subject.apiGroup;
      }
    }
  },
  *validate(object, old) {
    yield* immutableCauses(object, old, ['roleRef'], 'cannot change roleRef');
    const kinds = object.kind === 'RoleBinding' ? ['Role', 'ClusterRole'] : ['ClusterRole'];
    const kind = objectAt(object, 'roleRef').kind;
    if (kind !== undefined && !kinds.includes(String(kind))) {
      yield notSupported('roleRef.kind', kind, kinds);
    }
    for (const [index, { kind: of, apiGroup, namespace }] of objectsAt(object, 'subjects').entries()) {
      const group = of === 'ServiceAccount' ? '' : rbac;
      if ((apiGroup ?? '') !== group) {
        yield notSupported(`subjects[${index}].apiGroup`, apiGroup, [group]);
      }
      if (of === 'ServiceAccount' && object.kind === 'ClusterRoleBinding' && !namespace) {
        yield required(`subjects[${index}].namespace`);
      }
    }
  },
};
